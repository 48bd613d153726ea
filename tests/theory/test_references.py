"""Every quantity and every threshold names the source of its formula, and every source is cited."""

import re

import pytest

from symroof.theory import references
from symroof.theory.quantities import QUANTITIES
from symroof.theory.quantity import declared, referenced
from symroof.theory.references import DEFINITION
from symroof.theory.thresholds import SUBJECTS, THRESHOLDS

SOURCES = {name: value for name, value in vars(references).items() if name.isupper()}
DECLARED = [*QUANTITIES.values(), *THRESHOLDS.values()]


def test_every_quantity_and_threshold_has_a_reference():
    assert [entry.name for entry in DECLARED if entry.reference not in SOURCES.values()] == []


def test_a_declaration_without_a_reference_is_noticed():
    """The check above can fail: nothing fills a reference in for a quantity outside a group."""
    alone = declared("memory", "spare_bytes", "x", "byte", "a made-up quantity", "mem_capacity")
    assert alone.reference not in SOURCES.values()
    assert [q.reference for q in referenced(DEFINITION, alone)] == [DEFINITION]


def test_every_group_of_thresholds_has_a_reference():
    assert set(SUBJECTS) == {threshold.group for threshold in THRESHOLDS.values()}
    assert {reference for _, reference in SUBJECTS.values()} <= set(SOURCES.values())


@pytest.mark.parametrize("name", sorted(set(SOURCES) - {"DEFINITION"}))
def test_a_source_has_authors_a_year_and_a_title(name):
    authors, _, title = re.split(r" ((?:19|20)\d\d), ", SOURCES[name], maxsplit=1)
    assert authors
    assert len(title) > 8


def test_every_source_is_cited():
    cited = {entry.reference for entry in DECLARED}
    assert {name for name, source in SOURCES.items() if source not in cited} == set()


def test_the_share_of_a_device_has_the_reference_of_its_whole():
    assert QUANTITIES["kv_bytes_per_token_per_device"].reference == QUANTITIES["kv_bytes_per_token"].reference != DEFINITION


KNOWN = {
    "ridge_point": "ROOFLINE",
    "tokens_per_verify": "LEVIATHAN",
    "queue_wait": "KLEINROCK",
    "in_flight": "LITTLE",
    "decode_mfu": "PALM",
    "all_reduce_time": "RING",
    "kv_bytes_per_token": "POPE",
    "attention_intensity": "GQA",
    "decode_experts_read": "MOESD",
    "free_memory": "DEFINITION",
    "batch_to_ridge": "ROOFLINE",
    "free_chunk": "SARATHI",
    "min_acceptance_speculation": "LEVIATHAN",
    "max_batch_memory": "DEFINITION",
}


@pytest.mark.parametrize("name", KNOWN)
def test_well_known_formulas_lead_to_their_papers(name):
    assert (QUANTITIES.get(name) or THRESHOLDS[name]).reference == SOURCES[KNOWN[name]]
