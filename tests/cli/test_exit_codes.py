"""Exit codes: 0 done, 1 a finding under --strict, 2 bad input, 101 a bug."""

from . import CHAT, call, cases, process, write_study


def test_strict_says_one_where_a_target_is_missed():
    """Of the study's two devices the L40S takes longer than 20 ms to read 15 GB of weights at 0.86 TB/s and less; the H100 meets everything."""
    assert call("eval", CHAT, "--strict", "--target", "itl=1 s", "--target", "ttft=9 s").code == 0
    assert call("eval", CHAT, "--strict", "--target", "itl=20 ms").code == 1
    fast = (CHAT, "--hardware", "h100-sxm")
    assert call("eval", *fast, "--strict", "--target", "itl=20 ms").code == 0
    assert call("eval", *fast, "--strict", "--target", "itl=1 ms").code == 1
    assert call("eval", *fast, "--target", "itl=1 ms").code == 0


def test_strict_says_one_where_a_target_is_met_in_a_part_of_the_ranges_only(tmp_path):
    path = write_study(tmp_path, efficiency="{mfu: 0.2..0.9}", targets="{ttft: 30 ms}")
    (case,) = cases(path)
    assert case["quantities"]["ttft"]["low"] < 0.03 < case["quantities"]["ttft"]["high"]
    assert call("eval", path, "--strict").code == 1


def broken(monkeypatch):
    """Make ``list models`` hit a bug."""
    from symroof.cli import list_command

    def fail():
        raise RuntimeError("out of cheese")

    monkeypatch.setitem(list_command.KINDS, "models", fail)


def test_a_bug_is_one_line_and_101(monkeypatch):
    broken(monkeypatch)
    outcome = call("list", "models")
    assert (outcome.code, outcome.out) == (101, "")
    assert outcome.err.count("\n") == 1
    assert "out of cheese" in outcome.err
    assert "--debug" in outcome.err
    assert "Traceback" not in outcome.err


def test_debug_shows_the_traceback_of_a_bug_and_still_says_101():
    code = (
        "import sys\nfrom symroof.cli import list_command, run\n"
        "def fail(): raise RuntimeError('out of cheese')\n"
        "list_command.KINDS['models'] = fail\nsys.argv = ['symroof', '--debug', 'list', 'models']\nrun()"
    )
    done = process(code=code)
    assert "Traceback" in done.stderr
    assert "out of cheese" in done.stderr
    assert done.returncode == 101


def test_the_process_ends_with_the_exit_code():
    assert process("eval", str(CHAT), "--strict", "--target", "itl=1 ms").returncode == 1
    done = process("eval", "--model", "nothing-like-it")
    assert (done.returncode, done.stdout) == (2, "")
