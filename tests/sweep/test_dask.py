"""What is larger than memory is computed by dask, chunk by chunk, here or on the workers of a cluster."""

import numpy as np

import symroof as sr
from symroof.sweep import dataset as sweep_dataset

from ..near import near

CASE = {"model": "llama-3-8b", "hardware": ["h100-sxm", "h200"], "output": 128}
OVER = {"batch": range(1, 101), "prompt": range(64, 3264, 64)}
NAMES = ["itl", "ttft", "memory_bytes", "decode_bound"]


def test_chunk_by_chunk(monkeypatch):
    whole = sr.Study(**CASE).sweep(NAMES, **OVER)
    monkeypatch.setattr(sweep_dataset, "IN_MEMORY", 100)
    monkeypatch.setattr(sweep_dataset, "CHUNK", "7200 B")
    found = sr.Study(**CASE).sweep(NAMES, **OVER)
    assert found.itl.data.npartitions > 4
    found = found.compute()
    for name in whole:
        assert found[name].dims == whole[name].dims and found[name].attrs == whole[name].attrs
        if whole[name].dtype.kind == "f":
            np.testing.assert_allclose(found[name].values, whole[name].values, rtol=1e-14)
        else:
            assert found[name].equals(whole[name])
    study = sr.Study(**CASE | {"hardware": "h200"}, batch=38, prompt=64 * 13)
    point = found.sel(hardware="h200", batch=38, prompt=64 * 13)
    for name in NAMES[:3]:
        assert point[name].item() == near(study.value(name), 1e-12)


def test_ten_billion_points_are_asked_for_one():
    grid = sr.Study(**CASE | {"hardware": "h200"}).sweep(
        "itl", batch=range(1, 10**5), prompt=range(1, 10**5)
    )
    alone = sr.Study(**CASE | {"hardware": "h200"}, batch=7, prompt=90_001).value("itl")
    assert grid.itl.sel(batch=7, prompt=90_001).values == near(alone, 1e-12)
