"""Asks aiconfigurator: questions on standard input, answers on standard output, both JSON. Run by the Python of an environment that has it; nothing here needs symroof."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

Question = dict[str, Any]


def local_model(model: str | dict[str, Any], folder: str) -> str:
    """Its own name of a model, or the folder of a ``config.json``."""
    if isinstance(model, str):
        return model
    text = json.dumps(model, sort_keys=True)
    place = Path(folder) / hashlib.sha256(text.encode()).hexdigest()[:12]
    place.mkdir(exist_ok=True)
    (place / "config.json").write_text(text, encoding="utf-8")
    return str(place)


def answered(question: Question, folder: str) -> dict[str, Any]:
    """The time in seconds and what it comes from, or why there is none.

    ``measured``: tables of this device and engine; ``scaled``: with the exchange between experts of one node for several; ``borrowed``: also tables of other
    devices and formulas (its mode HYBRID); ``cut``: refused as asked, and answered with every expert cut over all devices.
    """
    wide = question["tp_size"] * question["attention_dp_size"]
    tries = [
        ("measured", question, "SILICON"),
        ("borrowed", question, "HYBRID"),
        ("cut", question | {"moe_tp_size": wide, "moe_ep_size": 1}, "SILICON"),
    ]
    reason = None
    for source, asked, mode in tries:
        try:
            found = estimate(asked, folder, mode)
        except Exception as error:  # whatever it refuses is its answer
            reason = reason or f"{type(error).__name__}: {error}"
            continue
        number = question["answer"]
        taken = found.raw[number] if number == "request_latency" else getattr(found, number)
        fits = not str(found.kv_cache_warning or "").startswith("OOM")
        source = "scaled" if source == "measured" and found.moe_comm_fallbacks else source
        answer = {"seconds": float(taken) / 1e3, "from": source, "fits": fits}
        return answer | {"tables": found.backend_version, "refused": shortened(reason)}
    nothing = dict.fromkeys(("seconds", "from", "fits", "tables"))
    return nothing | {"refused": shortened(reason)}


def estimate(question: Question, folder: str, mode: str) -> Any:
    from aiconfigurator.cli.api import cli_estimate  # type: ignore[import-not-found]

    given = {
        name: value
        for name, value in question.items()
        if name not in ("answer", "model", "system_name")
    }
    return cli_estimate(
        local_model(question["model"], folder), question["system_name"], database_mode=mode, **given
    )


def shortened(reason: str | None) -> str | None:
    """Without the names and paths of one case.

    >>> shortened("PerfDataNotAvailableError: perf database error: GEMM perf data missing for quant 'int4_wo' at /x/y; available: []")
    "GEMM perf data missing for quant 'int4_wo'"
    """
    if reason is None:
        return None
    words = re.split(
        r" was found for model=| for \w+Key | at /|: tried|; available", reason.splitlines()[0]
    )[0]
    return re.sub(r"^\w+: (perf database error: )?", "", words)


def main() -> None:
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        answers = [answered(question, folder) for question in json.load(sys.stdin)]
    json.dump(
        {
            "version": version("aiconfigurator"),
            "python": sys.version.split()[0],
            "answers": answers,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
