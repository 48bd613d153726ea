"""Output files: whole or not at all, through links, into devices and FIFOs, and nothing left behind."""

import errno
import os
import socket
import subprocess
import sys
import threading

import pytest

from symroof.output_files import write_all, write_atomic, write_new
from tests.cli import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    target, first, second = tmp_path / "far" / "real", tmp_path / "first", tmp_path / "second"
    target.write_text("old")
    target.chmod(0o640)
    before = target.stat().st_ino
    first.symlink_to("second")
    second.symlink_to("far/real")
    write_atomic(first, "new")
    assert (os.readlink(first), os.readlink(second), target.read_text()) == (
        "second",
        "far/real",
        "new",
    )
    assert target.stat().st_mode & 0o777 == 0o640
    assert target.stat().st_ino != before  # replaced in one step, not written over
    assert os.listdir(tmp_path / "far") == ["real"]


def test_a_link_to_a_new_file_makes_it_where_it_points(tmp_path):
    (tmp_path / "link").symlink_to("folder/new")
    write_atomic(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "new").read_text() == "text"


def test_a_fifo_is_written_into(tmp_path):
    fifo, read = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()), daemon=True)
    reader.start()
    write_new(fifo, "text")  # though it exists
    reader.join(20)
    assert read == ["text"]
    assert fifo.is_fifo()


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_in_a_file_is_written_where_it_stands(path, tmp_path):
    """The shell's ``{ echo before; symroof ... -o /dev/stdout; echo after; } > file``: the file is neither replaced nor cut."""
    if not os.path.exists(path):
        pytest.skip("no such path here")
    taken = tmp_path / "taken"
    line = f"echo before; {sys.executable} -m symroof init study -o {path}; echo after"
    with taken.open("wb") as stream:
        subprocess.run(["sh", "-c", line], stdout=stream, env=ENVIRONMENT, timeout=60, check=True)
    plain = subprocess.run(
        [sys.executable, "-m", "symroof", "init", "study"],
        capture_output=True,
        env=ENVIRONMENT,
        timeout=60,
        check=True,
    ).stdout
    assert taken.read_bytes() == b"before\n" + plain + b"after\n"


def test_a_device_is_written_into_and_stays(tmp_path):
    write_atomic("/dev/null", "text")
    assert os.stat("/dev/null").st_rdev
    with pytest.raises(OSError, match="No space left") as full:
        write_atomic("/dev/full", "text")
    assert full.value.filename == "/dev/full"


def test_what_is_no_file_is_refused(tmp_path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
    (tmp_path / "circle").symlink_to("circle")
    for path, reason in (
        (tmp_path, "folder"),
        (tmp_path / "socket", "socket"),
        (tmp_path / "circle", "symbolic links"),
    ):
        with pytest.raises(OSError, match=reason) as refused:
            write_atomic(path, "text")
        assert refused.value.filename == str(path)
    with pytest.raises(FileExistsError):
        write_new(__file__, "text")
    with pytest.raises(NotADirectoryError):
        write_all(tmp_path / "socket", {"a.md": "text"})
    assert sorted(os.listdir(tmp_path)) == ["circle", "socket"]


def test_a_name_that_nobody_gave_leads_nowhere_else(tmp_path):
    """A stranger's folder may hold links: a path that a person named is written through one, a name of ours is not."""
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    victim.write_text("mine")
    folder.mkdir()
    (folder / "b.md").symlink_to(victim)
    with pytest.raises(OSError, match="is a symbolic link.*remove it") as refused:
        write_all(folder, {"a.svg": "text", "b.md": "text"})
    assert refused.value.filename == str(folder / "b.md")
    assert (os.listdir(folder), victim.read_text()) == (["b.md"], "mine")
    os.mkfifo(folder / "c.md")
    with pytest.raises(OSError, match="is no regular file"):  # and waits for no reader
        write_all(folder, {"c.md": "text"})


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_full_disk_names_the_path_and_leaves_the_old_file(step, tmp_path, monkeypatch):
    goal = tmp_path / "goal"
    goal.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "some temporary name")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomic(goal, "new")
    assert caught.value.filename == str(goal)
    assert goal.read_text() == "old"
    assert os.listdir(tmp_path) == ["goal"]
