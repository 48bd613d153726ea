"""Every format holds the points that single cases have, and says what they mean; a path holds the old file or the whole new one."""

import json
import os
import random
import socket
from functools import partial

import numpy as np
import pytest

import symroof as sr
from symroof.errors import InputError
from symroof.sweep import dataset as sweep_dataset
from symroof.sweep import grid as sweep_grid
from symroof.sweep.axes import axes_of
from symroof.sweep.dataset import write
from symroof.sweep.grid import make_grid
from symroof.symbolic.evaluation import blocks

from ..tables import fields
from . import FORMATS, points

CASE = fields(
    "model: llama-3-8b, hardware: [h100-sxm, h200-nvl], prompt: 2048, output: 128, arrival_rate: 30"
)
OVER = {"weights": ["fp16", "int4"], "batch": [1, 7, 64, 500], "mfu": "0.3:0.9:+0.3"}
ENDS = ["cost_per_mtok_low", "cost_per_mtok_high"]
QUANTITIES = ["itl", "ttft", "queue_wait", "kv_bytes_per_token", "cost_per_mtok", "decode_bound"]


@pytest.fixture(scope="module")
def planned():
    return make_grid(sr.Study(**CASE), axes_of(OVER.items()), QUANTITIES)


@pytest.fixture
def in_parts(monkeypatch):
    """What is larger than memory, or than a block of rows, is so at once."""
    monkeypatch.setattr(sweep_dataset, "IN_MEMORY", 10)
    monkeypatch.setattr(sweep_dataset, "CHUNK", "40 B")
    monkeypatch.setattr(sweep_grid, "blocks", partial(blocks, most=5))


def opened(path):
    import xarray

    if path.suffix == ".nc":
        return xarray.open_dataset(path, engine="netcdf4")
    return xarray.open_zarr(path, chunks=None)


@pytest.mark.parametrize("kind", FORMATS)
def test_points_read_back_are_those_of_cases_of_their_own(planned, kind, tmp_path, in_parts):
    """48 points in parts, where 30 requests a second are too many at an MFU of 0.3, and an H200 NVL has no price."""
    path = tmp_path / f"grid.{kind}"
    write(planned, path)
    assert os.listdir(tmp_path) == [path.name]
    found = points(path)
    assert len(found) == 2 * 2 * 4 * 3
    assert sorted(found[0]) == sorted(
        ["weights", "hardware", "batch", "mfu", *QUANTITIES, *ENDS, "fits"]
    )
    for point in random.Random(kind).sample(found, 4):
        moved = {axis: point[axis] for axis in ("weights", "hardware", "batch", "mfu")}
        case = sr.Study(**{**CASE, **moved, "batch": int(point["batch"])})
        for name in (*QUANTITIES, "fits"):
            try:
                exact = case.value(name)
            except InputError:
                assert point[name] is None, (name, point)
                continue
            same = exact if isinstance(exact, bool | str) else pytest.approx(exact, rel=1e-12)
            assert point[name] == same
    missing = {name for point in found for name, value in point.items() if value is None}
    assert missing == {"queue_wait", "cost_per_mtok", *ENDS}


@pytest.mark.parametrize("kind", ["nc", "zarr"])
@pytest.mark.parametrize("parts", [False, True], ids=["whole", "in parts"])
def test_grids_say_units(planned, kind, parts, tmp_path, request):
    memory = sr.Study(**CASE).sweep(QUANTITIES, **OVER)
    if parts:
        request.getfixturevalue("in_parts")
    write(planned, tmp_path / f"grid.{kind}")
    with opened(tmp_path / f"grid.{kind}") as found:
        counted = "12 of 48 points do not fit in memory"
        assert found.attrs.keys() == memory.attrs.keys() and found.inputs == memory.inputs
        assert (counted in found.warnings) != parts  # which may take as long as the sweep
        for name in ("itl", "ttft", "queue_wait", "kv_bytes_per_token", "fits"):
            assert found[name].dims == memory[name].dims
            np.testing.assert_allclose(found[name].values, memory[name].values, rtol=1e-15)
            assert {k: found[name].attrs[k] for k in ("units", "long_name")} == memory[name].attrs
        assert found.fits.dtype == bool
        assert set(found.decode_bound.values.ravel().tolist()) == {"memory", "compute"}
        assert found.hardware.values.tolist() == ["h100-sxm", "h200-nvl"]
        meaning = "decode batch size: requests decoded together"
        assert found.batch.attrs == {"units": "request", "long_name": meaning}


def test_parquet_says_units_and_assumptions(planned, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    write(planned, tmp_path / "grid.parquet")
    schema = pyarrow.parquet.read_schema(tmp_path / "grid.parquet")
    assert schema.field("itl").metadata[b"units"] == b"s"
    assert schema.field("batch").type == pa.int64()
    attention = {"value": "causal", "defaulted": True}
    assert json.loads(schema.metadata[b"assumptions"])["attention"] == attention
    assert b"h200" in schema.metadata[b"inputs"]
    assert b"points do not fit in memory" in schema.metadata[b"warnings"]


def test_csv_has_a_header_of_names_and_plain_numbers(tmp_path):
    """131,072 bytes a token: 2 x 32 layers x 8 heads x 128 wide x 2 bytes."""
    study = sr.Study(model="llama-3-8b", prompt=1)
    write(make_grid(study, axes_of([("batch", [1, 2])]), ["kv_cache_bytes"]), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "batch,kv_cache_bytes\n1,131072\n2,262144\n"


def test_points_that_do_not_fit_are_counted(in_parts):
    """Of batches of 1, 7, 64 and 100,000 only the last does not fit on the device, for each of three efficiencies."""
    over = axes_of([("batch", [1, 7, 64, 100_000]), ("mfu", [0.3, 0.6, 0.9])])
    grid = make_grid(sr.Study(**CASE | {"hardware": "h100-sxm"}), over, ["itl"])
    assert (grid.unfit, grid.points) == (3, 12)


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("stopped", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_sweep_that_stops_leaves_the_old_file_and_nothing_else(
    planned, stopped, tmp_path, monkeypatch
):
    goal = tmp_path / "grid.csv"
    other = sr.Study(model="llama-3-8b", hardware="h100-sxm", prompt=1)
    write(make_grid(other, axes_of([("batch", [3])]), ["itl"]), goal)
    old = contents(tmp_path)

    def stop(*_):
        raise stopped

    monkeypatch.setattr(sweep_grid.Grid, "at", stop)
    with pytest.raises((KeyboardInterrupt, InputError)) as caught:
        write(planned, goal)
    if isinstance(stopped, OSError):
        assert str(caught.value) == f"{goal}: cannot be written: No space left on device"
    assert contents(tmp_path) == old and os.listdir(tmp_path) == [goal.name]


GOALS = {
    "no ending": ("grid", "has no ending"),
    "no format": ("grid.txt", "there are: .csv, .nc, .parquet, .zarr"),
    "near": ("grid.parqet", "did you mean '.parquet'?"),
    "no folder": ("nowhere/grid.csv", "there is no folder"),
    "a folder": ("folder.csv", "is a folder"),
    "a store": ("folder.zarr", "a Zarr store is not replaced"),
    "below a file": ("file.zarr/grid.csv", "Not a directory"),
    "a pipe": ("fifo.csv", "is no regular file"),
    "a circle": ("circle.csv", "symbolic links"),
    "a socket": ("socket.csv", "socket"),
    "standard output": ("/dev/stdout", "JSON goes to standard output"),
}


@pytest.mark.parametrize("name", GOALS)
def test_goals_that_cannot_be_written_are_refused_at_once(planned, name, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_grid.Grid, "at", None)  # nothing is worked out
    for folder in ("folder.csv", "folder.zarr"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "file.zarr").write_text("mine", encoding="utf-8")
    (tmp_path / "circle.csv").symlink_to("circle.csv")
    os.mkfifo(tmp_path / "fifo.csv")
    with socket.socket(socket.AF_UNIX) as bound:
        monkeypatch.chdir(tmp_path)
        bound.bind("socket.csv")
    before = contents(tmp_path)
    goal, word = GOALS[name]
    with pytest.raises(InputError) as caught:
        write(planned, tmp_path / goal)
    assert word in str(caught.value)
    assert contents(tmp_path) == before


def test_a_link_is_followed_and_a_mode_kept(planned, tmp_path):
    target, link = tmp_path / "far.csv", tmp_path / "link.csv"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    link.symlink_to(target.name)
    write(planned, link)
    assert link.is_symlink() and len(points(target)) == 48
    assert target.stat().st_mode & 0o777 == 0o640
