"""The search over whole batches, against every threshold there can be up to a small bound."""

import numpy as np
import pytest

from symroof.select.screening import last_whole

HIGH = 12


def of_each(thresholds, batch):
    """The threshold of every batch that is asked for: several of each column, one after another."""
    return np.repeat(thresholds, len(batch) // len(thresholds))


@pytest.mark.sample(5)
@pytest.mark.parametrize("high", [*range(1, HIGH), 17, 100, 257])
def test_the_last_batch_that_holds(high):
    """A column for every threshold: batches up to it pass, none from the start included; never more than ``high``, which need not be whole."""
    thresholds = np.arange(0, high + 3)
    for bound in (high, high + 0.5):
        assert last_whole(
            lambda batch: batch <= of_each(thresholds, batch),
            np.full(len(thresholds), float(bound)),
        ).tolist() == [min(k, high) for k in thresholds]


def test_no_batch_below_one_is_tried():
    tried = []

    def holds(batch):
        tried.extend(batch.tolist())
        return np.zeros(len(batch), bool)

    assert last_whole(holds, np.array([1.0, 2.0, 9.0])).tolist() == [0, 0, 0]
    assert min(tried) == 1
