"""The areas of the attack: each module makes attempts of one kind of input; ``AREAS`` has them by name."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from ..attempt import Attempt


def areas() -> dict[str, Callable[[], st.SearchStrategy[Attempt]]]:
    """Area -> its strategy, in the order of attack."""
    from . import (
        checkpoints,
        claims,
        formulas,
        lines,
        measured,
        notes,
        outputs,
        processes,
        servers,
        specs,
        studies,
        templates,
    )

    return {
        "formulas": formulas.attempts,
        "latex": formulas.latex_attempts,
        "lines": lines.attempts,
        "studies": studies.attempts,
        "specs": specs.attempts,
        "claims": claims.attempts,
        "notes": notes.attempts,
        "config": checkpoints.config_attempts,
        "gguf": checkpoints.gguf_attempts,
        "measured": measured.attempts,
        "vllm": servers.attempts,
        "templates": templates.attempts,
        "outputs": outputs.attempts,
        "processes": processes.attempts,
    }
