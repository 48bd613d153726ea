"""``symroof plot``: files, standard output, and everything that is refused before anything is drawn."""

import contextlib

import pytest

from ..tables import table, words
from . import CHAT, call, refused

KINDS = words("roofline latency-throughput regimes pareto memory tornado parts ttft itl")
LINE = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "512", "--batch", "4")


@pytest.mark.full
def test_without_a_file_it_is_named_after_study_and_kind(tmp_path):
    with contextlib.chdir(tmp_path):
        outcome = call("plot", "tornado", CHAT)
        of_line = call("plot", "memory", *LINE)
    assert (outcome.code, of_line.code) == (0, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "llama-3-8b-chat-tornado.svg",
        "memory.svg",
    ]
    assert outcome.err == "wrote llama-3-8b-chat-tornado.svg\n"
    assert "moves most with" in outcome.out


@pytest.mark.parametrize(
    ("ending", "start"),
    [("svg", b"<svg"), ("pdf", b"%PDF-"), ("png", b"\x89PNG"), ("SVG", b"<svg")],
)
def test_the_ending_says_the_form(ending, start, tmp_path):
    assert call("plot", "memory", *LINE, "-o", tmp_path / f"a.{ending}").code == 0
    assert (tmp_path / f"a.{ending}").read_bytes().startswith(start)


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    outcome = refused("plot", "memory", *LINE, "-o", tmp_path / "new/a.svg")
    assert "there is no folder" in outcome and "mkdir -p" in outcome
    assert not list(tmp_path.iterdir())


def test_standard_output_holds_the_picture_and_nothing_else(tmp_path):
    assert call("plot", "memory", *LINE, "-o", tmp_path / "a.svg").code == 0
    outcome = call("plot", "memory", *LINE, "-o", "-")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.encode() == (tmp_path / "a.svg").read_bytes()


def test_an_unknown_kind_names_the_nearest(tmp_path):
    assert "did you mean 'roofline'?" in refused("plot", "rooflin", CHAT)
    message = refused("plot", "xyz", CHAT)
    assert all(kind in message for kind in KINDS)


def test_an_unknown_ending_lists_the_known(tmp_path):
    for name in ("a.jpg", "a", "a.svg.gz"):
        message = refused("plot", "memory", *LINE, "-o", tmp_path / name)
        assert ".svg, .pdf, .png" in message
    assert "svg, pdf, png" in refused("plot", "memory", *LINE, "--format", "gif")
    assert "is not what" in refused(
        "plot", "memory", *LINE, "-o", tmp_path / "a.svg", "--format", "pdf"
    )
    assert list(tmp_path.iterdir()) == []


LACKING = """
ttft | --model llama-3-8b --prompt 512 | needs peak_flops
roofline | --model llama-3-8b | peak_flops needs peak_flops
memory | --model llama-3-8b --prompt 512 | needs mem_capacity
pareto | --model llama-3.1-405b --hardware t4 --prompt 512 | memory holds none
latency-throughput | --model llama-3-8b --hardware h200 --prompt 512 --set itl=9ms | no batch moves
"""


@pytest.mark.parametrize(("kind", "line", "lacks"), table(LACKING))
def test_the_error_names_what_a_case_lacks(kind, line, lacks, tmp_path):
    assert lacks in refused("plot", kind, *line.split(), "-o", tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []
