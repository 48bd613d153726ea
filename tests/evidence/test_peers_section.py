"""The stored numbers of the peers: each of a row of the catalogue, and the section of the page made from them."""

import json

import pytest

from tools.evidence.catalogue_rows import MeasuredRow, comparable, sources
from tools.evidence.peer_questions import KEY, STORED, key_of, question_of

DOCUMENT = json.loads(STORED.read_text(encoding="utf-8"))
WIDTH = len(KEY) + 1


@pytest.mark.full
def test_each_stored_number_is_of_a_row_of_the_catalogue_that_the_peer_can_be_asked():
    rows = {
        key_of(spec.name, row.row): row.row
        for spec in sources()
        for row in comparable(spec)
        if isinstance(row, MeasuredRow)
    }
    kept = [tuple(row[:WIDTH]) for row in DOCUMENT["rows"]]
    assert len({*kept}) == len(kept) > 400
    assert {*kept} <= {key for key, row in rows.items() if not isinstance(question_of(row), str)}, (
        "stale: python -m tools.evidence peers PYTHON"
    )
