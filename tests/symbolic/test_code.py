"""Functions of formulas in JavaScript, run by Node where there is one, against Python's own."""

import json
import math
import shutil
import subprocess

import pytest

from symroof.resources import data_folder
from symroof.symbolic.code import javascript
from symroof.symbolic.reading import parse

NODE = shutil.which("node")
CASES = {
    "exp(-a/b)*a": lambda a, b: math.exp(-a / b) * a,
    "exp(0*a)": lambda a, b: 1.0,
    "log2(a) + sqrt(b)": lambda a, b: math.log2(a) + math.sqrt(b),
    "ceil(a/b) - floor(a/b)": lambda a, b: 1.0,
}


@pytest.mark.skipif(NODE is None, reason="needs Node")
def test_functions_are_those_of_python():
    kernels = (data_folder("templates") / "live" / "kernels.js").read_text(encoding="utf-8")
    values = {"a": 7.5, "b": 2.0}
    formulas = ",".join(javascript(parse(source)) for source in CASES)
    script = f"{kernels}\nconst values = {json.dumps(values)}, e = {{v: name => values[name]}};\nconsole.log(JSON.stringify([{formulas}]));"
    done = subprocess.run(
        [NODE, "-e", script], capture_output=True, text=True, check=True, timeout=30
    )
    assert json.loads(done.stdout) == pytest.approx(
        [by_hand(**values) for by_hand in CASES.values()], rel=1e-15
    )
