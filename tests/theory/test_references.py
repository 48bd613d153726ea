"""Every quantity and every threshold names the source of its formula, and every source is cited."""

import re

import pytest

from symroof.theory.declarations import SUBJECTS, THRESHOLDS
from symroof.theory.quantities import QUANTITIES
from symroof.theory.theory_files import DEFINITION, references

SOURCES = references()
DECLARED = [*QUANTITIES.values(), *THRESHOLDS.values()]


def test_every_quantity_and_threshold_has_a_reference():
    assert [entry.name for entry in DECLARED if entry.reference not in SOURCES.values()] == []


def test_every_group_of_thresholds_has_a_reference():
    assert set(SUBJECTS) == {threshold.group for threshold in THRESHOLDS.values()}
    assert {reference for _, reference in SUBJECTS.values()} <= set(SOURCES.values())


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", sorted(set(SOURCES) - {DEFINITION}))
def test_a_source_has_authors_a_year_and_a_title(name):
    authors, _, title = re.split(r" ((?:19|20)\d\d), ", SOURCES[name], maxsplit=1)
    assert authors
    assert len(title) > 8
