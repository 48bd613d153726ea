"""What the benchmark runs are commands that still work; how long they take is no test's affair."""

import pytest

from benchmarks import speed


@pytest.mark.full
@pytest.mark.parametrize("name", ["eval", "solve"])
def test_a_command_of_the_benchmark_runs(name, tmp_path):
    assert speed.seconds(speed.program(speed.COMMANDS[name], str(tmp_path))) > 0
