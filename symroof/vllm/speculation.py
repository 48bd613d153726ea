"""What a line of vLLM says about speculative decoding: the draft model and how many tokens it drafts."""

from typing import Any

from symroof.errors import InputError
from symroof.vllm.command_line import Line, Written
from symroof.vllm.flags import FlagNote
from symroof.vllm.hub import NotFound, model_here


def speculation(line: Line, flags: list[FlagNote]) -> dict[str, Any]:
    """Drafted tokens of ``--speculative-config``, as JSON or key by key."""
    whole = line.flags.get("speculative-config")
    config: dict[str, Any] = dict(whole.value) if whole else {}
    parts = {name.partition(".")[2]: written for name, written in line.flags.items() if name.startswith("speculative-config.")}
    config |= {key: written.value for key, written in parts.items()}
    if not config:
        return {}
    written = whole or next(iter(parts.values()))
    count = _drafted(line, written, config.get("num_speculative_tokens"))
    values: dict[str, Any] = {"draft_tokens": count} if count else {}
    sets = [f"draft_tokens = {count}" if count else "no draft_tokens: it says no num_speculative_tokens"]
    if isinstance(config.get("model"), str) and config.get("method") in (None, "draft_model"):
        draft, how = _draft(config["model"])
        values |= {"draft": draft} if draft else {}
        sets.append(how)
    says = "give --set acceptance=0.7 to see whether it pays" + ("" if "draft" in values else ", and --set draft_cost=0.1 or --draft MODEL")
    flags.append(FlagNote("--speculative-config", written.text[:60], ", ".join(sets), says))
    return values


def _draft(name: str) -> tuple[str, str]:
    """The draft model by its name on the hub; an unknown one is left out with a note."""
    try:
        draft, _ = model_here(name)
    except NotFound:
        return "", f"no draft: {name[:60]!r} is neither in the catalogue nor a path here"
    return draft, f"draft = {draft}"


def _drafted(line: Line, written: Written, value: Any) -> int:
    """The number of drafted tokens; 0 where the line says none.

    Raises:
        InputError: it is no whole number from 1 to 1,000.
    """
    if value is None:
        return 0
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) <= 1000 or len(text) > 4:
        raise InputError(
            line.problem(written.column, f"num_speculative_tokens is {text[:40]!r}, not a whole number from 1 to 1,000", path="--speculative-config")
        )
    return int(text)
