"""The CSV: units, places of faults, bounds."""

from fractions import Fraction

import pytest

import symroof as sr
from symroof.calibrate.measurements import parse_measured
from symroof.errors import InputError


@pytest.mark.parametrize(
    "text",
    [
        "batch,itl\n8,0.0125",
        "batch,itl_ms\n8,12.5",
        "bs,itl [ms]\n8,12.5",
        "batch,itl (us)\n8,12500",
        "batch,itl\n8,12.5 ms",
        'batch , itl_s\n"8", "12.5 ms"',
    ],
)
def test_the_same_time_in_every_spelling(text):
    ((found,), unused) = parse_measured(text)
    assert unused == []
    assert (found.metric, found.seconds, found.inputs) == ("itl", Fraction(1, 80), {"batch": 8})


def test_comments_empty_lines_and_latencies_left_out():
    found, _ = parse_measured(
        "\ufeff# made up\n\nprompt,ttft_ms,itl_ms\n100,20,\n# more\n200,,5\n".removeprefix("\ufeff")
    )
    assert [(m.line, m.metric) for m in found] == [(4, "ttft"), (6, "itl")]


LOADED = {
    "concurrency,prompt,output,ttft_ms,itl_ms\n16,9,9,80,9\n": [
        ("sustained_itl", {"batch": 16, "prompt": 9, "output": 9})
    ],
    "arrival_rate,batch,itl_ms\n4 request/s,8,9\n": [("sustained_itl", {"batch": 8})],
    "concurrency,prompt,itl_ms\n1,9,8\n": [("itl", {"batch": 1, "prompt": 9})],
}


@pytest.mark.parametrize("text", LOADED)
def test_times_under_load_are_those_of_a_closed_loop(text):
    """A step alone where one request is in flight; of several the first token waits in a queue."""
    found, unused = parse_measured(text)
    assert [(m.metric, m.inputs) for m in found] == LOADED[text]
    waits = "ttft of line 2 is not used: requests wait"
    assert [str(item)[: len(waits)] for item in unused] == [waits] * ("ttft" in text)
    with pytest.raises(InputError, match="the batch of a step is not known"):
        parse_measured("arrival_rate,itl_ms\n4 request/s,9\n")


BAD = [
    ("", "1:1", "is empty"),
    ("prompt,ttft\n", "1:1", "no rows"),
    ("prompt,batch\n1,2\n", "1:1", "no column of a latency"),
    ("promt,ttft\n1,2\n", "1:1", "did you mean 'prompt'"),
    ("prompt,Median TTFT (ms)\n1,2\n", "1:8", "such as prompt,batch,ttft_ms"),
    ("batch,itl,bs\n1,2,3\n", "1:11", "batch is given twice"),
    ("mfu,itl\n0.5,2\n", "1:1", "is fitted here"),
    ("batch,itl\n1,nan\n", "2:3", "nan"),
    ("batch,itl\n1,0\n", "2:3", "must be positive"),
    ("batch,itl\n,2\n", "2:1", "is empty"),
    ("batch,prompt,itl\n1,2\n", "2:3", "2 values for 3 columns"),
    ("batch,itl\n1,2 GB\n", "2:3", "s is needed"),
    ("batch,itl\n1,2*itl\n", "2:3", "itl"),
    ('batch,itl\n1,"2\n', "2:3", "comma-separated"),
    ("prompt;ttft\n1;2\n", "1:1", "name of a column"),
    (",".join(["a"] * 300) + "\n1\n", "1:1", "300 columns"),
    ("itl\n" + "1\n" * 5000, "1002:1", "5,000 rows"),
    ("itl\n" + "1" * 9000 + "\n", "2:1", "longer than"),
    ("itl\n1\0\n", "2:1", ""),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("text", "place", "word"), BAD, ids=range(len(BAD)))
def test_a_fault_is_told_with_its_place(text, place, word):
    with pytest.raises(InputError) as caught:
        parse_measured(text, "m.csv", ("mfu",))
    first = str(caught.value.problems[0])
    assert first.startswith(f"m.csv:{place}: "), first
    assert word in str(caught.value)


def test_all_faults_come_in_one_run():
    with pytest.raises(InputError) as caught:
        parse_measured("batch,itl\n0,1\n1,-1\n2.5,x\n")
    places = [(p.line, p.path) for p in caught.value.problems]
    assert places == [(2, "batch"), (3, "itl"), (4, "batch"), (4, "itl")]


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "latin.csv").write_bytes(b"itl\n1\xe9\n")
    (tmp_path / "big.csv").write_bytes(b"itl\n" + b"1\n" * 2_000_000)
    for name, word in (
        ("latin.csv", "UTF-8"),
        ("big.csv", "larger than"),
        ("none.csv", "No such file"),
        (".", "directory"),
    ):
        with pytest.raises(InputError, match=word):
            sr.Study("llama-3-8b", "h100-sxm", prompt=8).calibrate(tmp_path / name)
