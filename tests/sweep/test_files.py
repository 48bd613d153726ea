"""Every format holds the same points as the sweep in memory, whole or in blocks, and says what they mean."""

import json
import os
import random
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import symroof as sr
from symroof.errors import InputError
from symroof.sweep.axes import axes_of
from symroof.sweep.write_file import write
from tests.cli import ROOT

from . import FORMATS, points

CASE = {
    "model": "llama-3-8b",
    "hardware": ["h100-sxm", "h200-nvl"],
    "prompt": 2048,
    "output": 128,
    "arrival_rate": 30,
}
OVER = {"weights": ["fp16", "int4"], "batch": [1, 7, 64, 500], "mfu": "0.3:0.9:+0.3"}
QUANTITIES = ["itl", "ttft", "queue_wait", "kv_bytes_per_token", "cost_per_mtok", "decode_bound"]


@pytest.fixture(scope="module")
def planned():
    return sr.Study(**CASE).planned_sweep(axes_of(OVER.items()), QUANTITIES)


@pytest.mark.sample(1)
@pytest.mark.parametrize("most", [2, 10**6], ids=["blocks", "one block"])
@pytest.mark.parametrize("kind", FORMATS)
def test_points_read_back_are_those_of_cases_of_their_own(planned, kind, most, tmp_path):
    path = tmp_path / f"grid.{kind}"
    write(planned, path, most=most)
    assert os.listdir(tmp_path) == [path.name]
    found = points(path)
    assert len(found) == 2 * 2 * 4 * 3
    assert sorted(found[0]) == sorted(["weights", "hardware", "batch", "mfu", *QUANTITIES, "fits"])
    for point in random.Random(f"{kind} {most}").sample(found, 8):
        case = sr.Study(
            **{
                **CASE,
                **{axis: point[axis] for axis in ("weights", "hardware", "batch", "mfu")},
                "batch": int(point["batch"]),
            }
        )
        for name in (*QUANTITIES, "fits"):
            try:
                exact = case.value(name)
            except InputError:
                assert point[name] is None, (name, point)
                continue
            assert point[name] == (
                exact if isinstance(exact, (bool, str)) else pytest.approx(float(exact), rel=1e-12)
            )
    missing = {name for point in found for name, value in point.items() if value is None}
    assert (
        missing == {"queue_wait", "cost_per_mtok"}
    )  # 30 requests a second are too many at an MFU of 0.3; the catalogue has no price of an H200 NVL


@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_question_gives_the_same_bytes(planned, kind, tmp_path):
    for name, most in (("a", 3), ("b", 3)):
        (tmp_path / name).mkdir()
        write(planned, tmp_path / name / f"grid.{kind}", most=most)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_parquet_says_units_and_assumptions(planned, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    write(planned, tmp_path / "grid.parquet")
    schema = pyarrow.parquet.read_schema(tmp_path / "grid.parquet")
    assert schema.field("itl").metadata[b"units"] == b"s"
    assert schema.field("batch").type == pa.int64()
    assert pa.types.is_dictionary(schema.field("decode_bound").type)
    assert json.loads(schema.metadata[b"assumptions"])["attention"] == {
        "value": "causal",
        "defaulted": True,
    }
    assert b"h200" in schema.metadata[b"inputs"]


@pytest.mark.parametrize("kind", ["nc", "zarr"])
def test_grids_say_units_and_keep_only_the_axes_that_matter(planned, kind, tmp_path):
    import xarray

    path = tmp_path / f"grid.{kind}"
    write(planned, path, most=5)
    with (
        xarray.open_dataset(path, engine="netcdf4")
        if kind == "nc"
        else xarray.open_zarr(path, chunks=None) as found
    ):
        memory = sr.Study(**CASE).sweep(QUANTITIES, **OVER)
        assert found.attrs == memory.attrs
        for name in ("itl", "ttft", "queue_wait", "kv_bytes_per_token", "fits"):
            assert found[name].dims == memory[name].dims
            np.testing.assert_allclose(
                found[name].values, memory[name].values, rtol=1e-15
            )  # another block, another last digit
            assert {k: found[name].attrs[k] for k in ("units", "long_name")} == memory[name].attrs
        assert found.fits.dtype == bool
        assert found.hardware.values.tolist() == ["h100-sxm", "h200-nvl"]
        assert found.batch.attrs == {
            "units": "request",
            "long_name": "decode batch size: requests decoded together",
        }


def test_csv_has_a_header_of_names_and_plain_numbers(tmp_path):
    """131,072 bytes a token: 2 x 32 layers x 8 heads x 128 wide x 2 bytes."""
    study = sr.Study(model="llama-3-8b", prompt=1)
    write(study.planned_sweep(axes_of([("batch", [1, 2])]), ["kv_cache_bytes"]), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "batch,kv_cache_bytes\n1,131072\n2,262144\n"


# ------------------------------------------------------------------------------------------------------ interrupted


def stopping_at(count):
    """What stands for somebody who presses Ctrl-C after so many blocks."""
    seen = []

    def track(items, label):
        for item in items:
            yield item
            seen.append(item)
            if len(seen) == count:
                raise KeyboardInterrupt

    return track


@pytest.mark.sample(3)
@pytest.mark.parametrize("after", [1, 15])
@pytest.mark.parametrize("kind", FORMATS)
def test_an_interrupted_sweep_leaves_the_old_file_and_nothing_else(planned, kind, after, tmp_path):
    """48 points in sixteen blocks."""
    goal = tmp_path / f"grid.{kind}"
    other = sr.Study(model="llama-3-8b", hardware="h100-sxm", prompt=1).planned_sweep(
        axes_of([("batch", [3])]), ["itl"]
    )
    write(other, goal)
    old = contents(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        write(planned, goal, track=stopping_at(after), most=5)
    assert contents(tmp_path) == old
    assert os.listdir(tmp_path) == [goal.name]


def test_a_caller_follows_the_blocks(planned, tmp_path):
    """48 points in sixteen blocks, each worked out once."""
    tracked = []
    write(
        planned,
        tmp_path / "grid.csv",
        most=5,
        track=lambda items, label: tracked.append((label, len(items))) or items,
    )
    assert tracked == [("sweeping", 16)]


@pytest.mark.parametrize("most", [5, 10**6])
@pytest.mark.parametrize("kind", ["parquet", "nc", "zarr"])
def test_points_that_do_not_fit_are_counted_in_the_file(kind, most, tmp_path):
    """Of batches of 1, 7, 64 and 100,000 only the last does not fit on the device, for each of three efficiencies."""
    plan = sr.Study(**CASE | {"hardware": "h100-sxm"}).planned_sweep(
        axes_of([("batch", [1, 7, 64, 100_000]), ("mfu", [0.3, 0.6, 0.9])]), ["itl"]
    )
    path = tmp_path / f"grid.{kind}"
    (told, *_) = write(plan, path, most=most)
    assert told.startswith("3 of 12 points do not fit")
    assert _attributes(path)["warnings"].startswith(told)


def _attributes(path):
    if path.suffix == ".parquet":
        import pyarrow.parquet

        found = pyarrow.parquet.read_schema(path).metadata
        return {name.decode(): text.decode() for name, text in found.items()}
    import xarray

    opened = (
        xarray.open_dataset(path, engine="netcdf4")
        if path.suffix == ".nc"
        else xarray.open_zarr(path, chunks=None)
    )
    with opened as found:
        return dict(found.attrs)


# ------------------------------------------------------------------------------------------------- goals that cannot be


@pytest.mark.full
@pytest.mark.parametrize("kind", FORMATS)
def test_a_full_disk_leaves_the_old_file(kind, tmp_path):
    """A limit on the size of files stands for the disk: a child process may write 20 kB, and the whole is larger."""
    goal = tmp_path / f"grid.{kind}"
    first = "{prompt: 1}" if kind == "zarr" else None
    if first is None:
        goal.write_text("mine", encoding="utf-8")
    code = f"""
import resource, sys
import symroof as sr
from symroof.sweep.axes import axes_of
from symroof.sweep.write_file import write
plan = sr.Study(model="llama-3-8b", hardware="h100-sxm").planned_sweep(axes_of([("batch", range(1, 400)), ("prompt", range(1, 40))]), ["itl", "ttft", "memory_bytes"])
plan.variables
import {"pyarrow.parquet" if kind in ("csv", "parquet") else "xarray, zarr, netCDF4"}
resource.setrlimit(resource.RLIMIT_FSIZE, ({400 if kind == "zarr" else 20000},) * 2)
from symroof.errors import InputError
try:
    write(plan, {str(goal)!r}, most=400)
except InputError as error:
    print(error)
    sys.exit(2)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr[-600:]
    assert f"{goal}: cannot be written: " in done.stdout
    if kind == "zarr":
        assert not goal.exists()
    else:
        assert goal.read_text(encoding="utf-8") == "mine"
    assert os.listdir(tmp_path) == ([] if kind == "zarr" else [goal.name])


GOALS = {
    "no ending": ("grid", "has no ending"),
    "no format": ("grid.txt", "there are: .csv, .nc, .parquet, .zarr"),
    "near": ("grid.parqet", "did you mean '.parquet'?"),
    "no folder": ("nowhere/grid.csv", "there is no folder"),
    "a folder": ("folder.csv", "is a folder"),
    "no store": ("folder.zarr", "not a Zarr store"),
    "a file": ("file.zarr", "is a file"),
    "below a file": ("file.zarr/grid.csv", "there is no folder"),
}


@pytest.mark.parametrize("name", GOALS)
def test_goals_that_cannot_be_written_are_refused_at_once(planned, name, tmp_path, monkeypatch):
    monkeypatch.setattr("symroof.sweep.grid_blocks.Grid.values", None)  # nothing is worked out
    for folder in ("folder.csv", "folder.zarr"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "file.zarr").write_text("mine", encoding="utf-8")
    before = contents(tmp_path)
    goal, word = GOALS[name]
    with pytest.raises(InputError) as caught:
        write(planned, tmp_path / goal)
    assert word in str(caught.value)
    assert contents(tmp_path) == before


# -------------------------------------------------------------------------------------------- goals that are no plain file


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_link_is_followed(planned, kind, tmp_path):
    """The link stays, its target is replaced, and two names of one file are one goal."""
    (tmp_path / "far").mkdir()
    target, link, plain = (
        tmp_path / "far" / f"real.{kind}",
        tmp_path / f"link.{kind}",
        tmp_path / f"plain.{kind}",
    )
    link.symlink_to(f"far/real.{kind}")
    for most in (5, 10**6):  # first to a target that is not there yet
        write(planned, link, most=most)
        assert link.is_symlink()
        assert not target.is_symlink()
    write(planned, plain)
    assert points(target) == points(plain)
    assert os.listdir(tmp_path / "far") == [target.name]


@pytest.mark.parametrize("kind", ["csv", "parquet", "nc"])
def test_a_fifo_is_written_into(planned, kind, tmp_path):
    fifo, plain = tmp_path / f"fifo.{kind}", tmp_path / f"plain.{kind}"
    write(planned, plain, most=5)
    os.mkfifo(fifo)
    read = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()), daemon=True)
    reader.start()
    write(planned, fifo, most=5)
    reader.join(20)
    assert read == [plain.read_bytes()]
    assert fifo.is_fifo()
    assert sorted(os.listdir(tmp_path)) == sorted([fifo.name, plain.name])


@pytest.mark.full
def test_a_link_to_standard_output_is_written_into(tmp_path):
    link, taken = tmp_path / "grid.csv", tmp_path / "taken"
    link.symlink_to("/dev/stdout")
    line = [
        sys.executable,
        "-m",
        "symroof",
        "sweep",
        "--model",
        "llama-3-8b",
        "--prompt",
        "1",
        "--over",
        "batch=1,2",
        "-q",
        "kv_cache_bytes",
        "-o",
        str(link),
    ]
    with taken.open("wb") as stream:
        stream.write(b"before\n")
        stream.flush()
        done = subprocess.run(
            line,
            stdout=stream,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert taken.read_text() == "before\nbatch,kv_cache_bytes\n1,131072\n2,262144\n"
    assert os.readlink(link) == "/dev/stdout"


def test_what_no_sweep_is_written_into_is_refused(planned, tmp_path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket.csv"))
    (tmp_path / "circle.csv").symlink_to("circle.csv")
    os.mkfifo(tmp_path / "fifo.zarr")
    for name, reason in (
        ("socket.csv", "socket"),
        ("circle.csv", "symbolic links"),
        ("fifo.zarr", "is a file"),
    ):
        with pytest.raises(InputError, match=reason):
            write(planned, tmp_path / name)
    with pytest.raises(InputError, match="JSON goes to standard output"):
        write(planned, "/dev/stdout")
    assert sorted(os.listdir(tmp_path)) == ["circle.csv", "fifo.zarr", "socket.csv"]


def test_the_mode_of_a_file_stays(planned, tmp_path):
    goal = tmp_path / "grid.csv"
    goal.write_text("old", encoding="utf-8")
    goal.chmod(0o640)
    write(planned, goal)
    assert goal.stat().st_mode & 0o777 == 0o640


# -------------------------------------------------------------------------------------------------- larger than memory

GROWTH = """
import resource, sys
import symroof as sr
from symroof.sweep.axes import axes_of
from symroof.sweep.write_file import write
names = ["itl", "user_rate", "decode_throughput", "decode_flops", "decode_bytes", "memory_bytes", "memory_utilization", "decode_mbu"]
def sweep(batch, name):
    plan = sr.Study(model="llama-3-8b", hardware="h100-sxm").planned_sweep(axes_of([("batch", range(1, batch)), ("prompt", range(1, 1001))]), names)
    write(plan, f"{sys.argv[1]}/{name}", most=2**15)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
small = [sweep(66, "small." + kind) for kind in sys.argv[2:]]
print(max(sweep(501, "large." + kind) for kind in sys.argv[2:]) - max(small))
"""


@pytest.mark.full
def test_memory_stays_small_however_many_points(tmp_path):
    """500,000 points of eight quantities are 32 MB as floats alone: beyond what an eighth of it takes, half of that is used at most."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", GROWTH, str(tmp_path), *FORMATS],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-600:]
    assert float(done.stdout) < 16  # MiB
