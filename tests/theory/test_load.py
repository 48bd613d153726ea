"""Latencies at an arrival rate, by formula and of a server that is simulated with the same step times.

``python -m tools.simulation``, ten seeds, thirty deployments at loads of 0.2, 0.4, 0.6 and 0.8: time between tokens within 5 % in 90 of 100, within 10 %
but for attention groups with responses of ten steps; time to first token within 15 % in 93 of 100, and beyond a factor of 1.5 where ten
runs of the simulation are themselves 42 % apart.
"""

import numpy as np
import pytest

from tools.simulation import LOADS, drawn, over_simulated

CASES = drawn()


@pytest.mark.full
def test_latencies_of_thirty_deployments_at_four_loads():
    off = [
        over_simulated(case, load, seeds=2, seed=100 * i)
        for i, case in enumerate(CASES)
        for load in LOADS
    ]
    itl, ttft = np.abs(np.log(np.array(off))).T
    assert np.mean(itl <= np.log(1.05)) >= 0.85 and np.mean(itl <= np.log(1.1)) >= 0.93
    assert np.mean(ttft <= np.log(1.2)) >= 0.85 and np.mean(ttft <= np.log(1.5)) >= 0.97
