"""Public forms of traces, read strictly; and what is drawn where there is none."""

import numpy as np
import pytest

from symroof.errors import InputError
from symroof.simulate.workload import Length, Traffic, checked, parse_trace, read_trace

from ..tables import table, words

AZURE_2023 = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:51.2224670,879,55
"""
AZURE_2024 = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-10 00:00:00.009930+00:00,2162,5
2024-05-10 00:00:00.017335+00:00,2399,6
2024-05-10 00:01:00+00:00,76,15
"""
BURST_GPT = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
118,GPT-4,417,0,417,Conversation log
"""


def parsed(text, **more):
    return parse_trace(text.splitlines(keepends=True), "t", **more)


def test_azure():
    work = parsed(AZURE_2023)
    assert work.arrival.tolist() == pytest.approx([0, 4.314579, 4.541877])
    assert (work.prompt.tolist(), work.output.tolist()) == ([374, 396, 879], [44, 109, 55])
    assert parsed(AZURE_2024).arrival.tolist() == pytest.approx([0, 0.007405, 59.99007], abs=1e-6)


def test_burst_gpt_without_what_failed():
    work = parsed(BURST_GPT)
    columns = work.arrival, work.prompt, work.output
    assert [column.tolist() for column in columns] == [[0, 40], [472, 1087], [18, 230]]
    assert "1 recorded requests without a prompt or a response" in " ".join(work.says)


def test_columns_of_ones_own_and_how_many():
    text = 'prompt,arrival,"output",cached_prefix\n\n10,3,1,2\n20,1,2,0\n30,2,3,\n'
    work = parsed(text)
    columns = work.prompt, work.cached, work.arrival
    assert [column.tolist() for column in columns] == [[20, 30, 10], [0, 0, 2], [0, 1, 2]]
    assert len(parsed(text, requests=2)) == 2


FAULTS = r"""
a,b,c\n1,2,3\n | 1 | no trace of a known form
arrival,prompt,output\n | | has no requests
arrival,prompt,output\n0,1,0\n | | has no requests
arrival,prompt,output\n1,2\n | 2 | has 2 fields, not 3
arrival,prompt,output\n1,2,3\n\nx,2,3\n | 4 | timestamp 'x' is not a number
arrival,prompt,output\nnan,2,3\n | 2 | is not a number
arrival,prompt,output\n1e400,2,3\n | 2 | is not a number
arrival,prompt,output\n1,2.5,3\n | 2 | whole numbers
arrival,prompt,output\n1,-2,3\n | 2 | whole numbers
arrival,prompt,output\n1,99999999999,3\n | 2 | whole numbers
arrival,prompt,output,prompt\n1,2,3,4\n | 1 | is there twice
arrival,prompt,output\n"1,2,3\n | 2 |
"arrival,prompt,output\n0,10,5\n | 2 | unexpected end of data
TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-99 00:00:00,1,1\n | 2 | is not a number
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "line", "message"), [*table(FAULTS), ("", "", "is empty"), ("\n \n", "", "is empty")]
)
def test_faults_have_their_line(text, line, message):
    with pytest.raises(InputError) as caught:
        parsed(text.replace("\\n", "\n"))
    problem = caught.value.problems[0]
    assert (problem.file, problem.line) == ("t", int(line) if line else None)
    assert message in problem.message


def test_all_faults_are_told_up_to_a_bound():
    with pytest.raises(InputError) as caught:
        parsed("arrival,prompt,output\n" + "x,1,1\n" * 500)
    assert len(caught.value.problems) == 20


def test_bounds_of_a_file(tmp_path, monkeypatch):
    path = tmp_path / "trace.csv"
    path.write_text("arrival,prompt,output\n" + "1,2,3\n" * 50, encoding="utf-8")
    assert len(read_trace(path)) == 50
    monkeypatch.setattr("symroof.simulate.workload.MOST_REQUESTS", 20)
    with pytest.raises(InputError, match="more than 20 requests"):
        read_trace(path)
    assert len(read_trace(path, requests=20)) == 20
    monkeypatch.setattr("symroof.simulate.workload.LARGEST_FILE", 100)
    with pytest.raises(InputError, match="larger"):
        read_trace(path)
    with pytest.raises(InputError, match=r"t:1:1: field larger"):
        parsed("x" * (1 << 18) + "xx")
    with pytest.raises(OSError, match="no_such"):
        read_trace(tmp_path / "no_such.csv")
    path.write_bytes(b"\xff\xfe\x00arrival")
    with pytest.raises(InputError):
        read_trace(path)


# ----------------------------------------------------------------------------------------------------------- drawn


@pytest.mark.parametrize(
    ("text", "mean", "variation"),
    [
        ("700", 700, 0),
        ("fixed:700", 700, 0),
        ("uniform:100..300", 200, 201 / np.sqrt(12) / 200),
        ("lognormal:500,0.8", 500, 0.8),
        ("exponential:900", 900, 1),
    ],
)
def test_lengths_have_their_mean_and_variation(text, mean, variation):
    length = Length.read(text)
    drawn = length.draw(200_000, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(mean, rel=0.02)
    assert drawn.std() / drawn.mean() == pytest.approx(variation, rel=0.03, abs=1e-12)
    assert Length.read(str(length)) == length


NO_LENGTHS = words(
    "0 -5 1e9 nan x uniform:5 uniform:9..3 lognormal:5 lognormal:5,-1 choice:5 gauss:1,2 fixed:1,2"
)


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", ["", *NO_LENGTHS])
def test_no_length(text):
    with pytest.raises(ValueError, match="."):
        Length.read(text)


@pytest.mark.parametrize(("arrivals", "variation"), [("poisson", 1), ("bursty", 3), ("uniform", 0)])
def test_arrivals_have_their_rate_and_variation(arrivals, variation):
    traffic = checked(Traffic(arrivals, Length.read("10"), Length.read("10"), rate=5, burstiness=3))
    gaps = np.diff(traffic.drawn(100_000, np.random.default_rng(2)).arrival)
    assert gaps.mean() == pytest.approx(0.2, rel=0.03)
    assert gaps.std() / gaps.mean() == pytest.approx(variation, rel=0.05, abs=1e-9)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "wrong",
    [
        {"arrivals": "often"},
        {"arrivals": "closed-loop", "users": 0},
        {"arrivals": "burst", "users": 0},
        {"rate": 0},
        {"rate": float("inf")},
        {"arrivals": "bursty", "burstiness": 0},
    ],
)
def test_traffic_that_cannot_be_drawn(wrong):
    one = Length.read("1")
    usual = {"arrivals": "poisson", "prompt": one, "output": one, "rate": 1.0}
    with pytest.raises(InputError):
        checked(Traffic(**usual | wrong))
