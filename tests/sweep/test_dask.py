"""The compiled function under dask, unchanged: blocks of an array, and two workers of their own. Skipped where dask is not installed."""

import numpy as np
import pytest

import symroof as sr

pytestmark = pytest.mark.full

CASE = {"model": "llama-3-8b", "hardware": "h100-sxm", "output": 128}
NAMES = ["itl", "ttft", "memory_bytes"]


@pytest.fixture(scope="module")
def array():
    return pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def compiled():
    return sr.compile(NAMES, ["batch", "prompt"], **CASE)


@pytest.fixture(scope="module")
def grid():
    return np.arange(1.0, 101)[:, None], 64.0 * np.arange(1, 51)[None, :]


def test_blocks_of_an_array(array, compiled, grid):
    """One quantity by map_blocks, several by apply_gufunc, against points of their own."""
    batch, prompt = (array.from_array(x, chunks=17) for x in grid)
    itl = array.map_blocks(
        sr.compile("itl", ["batch", "prompt"], **CASE), batch, prompt, dtype=float
    )
    assert itl.shape == (100, 50)
    assert itl.npartitions == 18
    all_three = array.apply_gufunc(
        compiled, "(),()->(),(),()", batch, prompt, output_dtypes=[float] * 3
    )
    checked([itl.compute(), *(x.compute() for x in all_three[1:])])


def checked(found):
    for i, k in ((0, 0), (99, 49), (37, 12)):
        case = sr.Study(**CASE, batch=i + 1, prompt=64 * (k + 1))
        for name, values in zip(NAMES, found, strict=True):
            assert values[i, k] == pytest.approx(float(case.value(name)), rel=1e-12)


@pytest.mark.filterwarnings("ignore")  # what the workers' own machinery warns of is not ours
def test_two_workers_of_their_own(array, compiled, grid):
    distributed = pytest.importorskip("distributed")
    compiled.depends  # noqa: B018  what was looked at once must not keep it from being sent
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        batch, prompt = (array.from_array(x, chunks=50) for x in grid)
        lazy = array.apply_gufunc(
            compiled, "(),()->(),(),()", batch, prompt, output_dtypes=[float] * 3
        )
        found = client.gather(client.compute(list(lazy)))
        pids = client.run(__import__("os").getpid)
    assert len(set(pids.values())) == 2
    checked(found)
