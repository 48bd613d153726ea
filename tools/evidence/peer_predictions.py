"""Ask the peers about the measured rows and store their numbers: ``python -m tools.evidence peers PYTHON``

PYTHON is that of an environment of its own: ``python3 -m venv peer && peer/bin/pip install aiconfigurator==0.12.0``. Takes ten minutes on two cores. The presets
of the other peers reproduce their numbers to twelve digits (``tests/acceptance/test_peers.py``), so they are computed here.
"""

from __future__ import annotations

import json
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import symroof as sr
from symroof.specs.catalogue import find
from symroof.specs.measured import Measurement
from tools.evidence.catalogue_rows import MeasuredRow, comparable, sources
from tools.evidence.peer_questions import KEY, Key, key_of, question_of

PRESETS = {"genz": 1000, "llm-viewer": 1, "llm-analysis": 1000, "mlsysim": 1}
"""The presets of the other peers, and the most devices that each counts. None has attention groups, or experts shared out over the devices of ``tp``."""

WORKER = Path(__file__).resolve().parent / "peer_worker.py"


def asked() -> dict[Key, tuple[Measurement, dict[str, Any]]]:
    """The usable rows of the catalogue that the peer has words for, with its question."""
    made: dict[Key, tuple[Measurement, dict[str, Any]]] = {}
    for spec in sources():
        for row in comparable(spec):
            if isinstance(row, MeasuredRow) and not isinstance(
                question := question_of(row.row), str
            ):
                made[key_of(spec.name, row.row)] = (row.row, question)
    return made


def by_preset(preset: str, row: Measurement) -> float | None:
    """The time of a row in seconds as a preset counts it; None where it has no value."""
    if row.attention_dp > 1 or (row.ep or 1) > 1 or row.tp * row.pp > PRESETS[preset]:
        return None
    given: dict[str, Any] = {
        "weights": row.weights,
        "kv": row.kv,
        "batch": row.batch,
        "prefill_batch": row.batch,
        "prompt": row.prompt,
    }
    given |= {
        name: degree
        for name in ("tp", "pp", "attention_dp", "ep")
        if (degree := getattr(row, name) or 1) > 1
    }
    given |= {name: value for name in ("activations", "output") if (value := getattr(row, name))}
    study = sr.Study(str(row.spec), row.hardware, preset=preset, **given)
    whole = row.metric in ("response_time", "response_rate")
    try:
        first = float(study.value("ttft")) if whole or row.output is None else 0.0
        decode = float(study.value("decode_time")) if row.output and row.output > 1 else 0.0
    except sr.InputError:
        return None
    return first + decode if whole or row.output is None else decode / (row.output - 1)


def document(python: str) -> str:
    """The file: who was asked, and a line for each row. ``refused`` counts from 0 in ``refusals``."""
    rows = asked()
    questions = json.dumps([question for _, question in rows.values()])
    found = json.loads(
        subprocess.run(
            [python, str(WORKER)], input=questions, capture_output=True, text=True, check=True
        ).stdout
    )
    answers = found["answers"]
    reasons = sorted({answer["refused"] for answer in answers if answer["refused"]})
    tables = {
        f"{question['system_name']} {question['backend_name']}": answer["tables"]
        for (_, question), answer in zip(rows.values(), answers, strict=True)
        if answer["tables"]
    }
    head = {
        "peer": "aiconfigurator",
        "version": found["version"],
        "date": str(datetime.now(UTC).date()),
        "run": f"Python {found['python']}, {platform.system()} {platform.machine()}, no accelerator: it reads its tables",
        "presets": {name: str(find("presets", name).data["version"]) for name in PRESETS},
        "tables": dict(sorted(tables.items())),
        "refusals": reasons,
        "columns": ["source", *KEY, "seconds", "from", "fits", "refused", *PRESETS],
    }
    lines = []
    for (key, (row, _)), answer in zip(rows.items(), answers, strict=True):
        refused = reasons.index(answer["refused"]) if answer["refused"] else None
        cells = [
            *key,
            _rounded(answer["seconds"]),
            answer["from"],
            answer["fits"],
            refused,
            *(_rounded(by_preset(preset, row)) for preset in PRESETS),
        ]
        lines.append(json.dumps(cells))
    named = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items())
    return "{" + named + ',\n"rows": [\n' + ",\n".join(lines) + "\n]}\n"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else float(f"{seconds:.5g}")
