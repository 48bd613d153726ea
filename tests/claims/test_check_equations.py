"""Equations checked without a file, and settings beside them."""

import pytest
import sympy

from symroof.claims.check import check
from symroof.errors import InputError
from symroof.symbols import head_dim, kv_bytes_per_element, kv_bytes_per_token, n_kv_heads, n_layers

# -------------------------------------------------------------------------------------------------------------- equations

FORMULA = 2 * n_layers * n_kv_heads * head_dim * kv_bytes_per_element


def test_an_equation_stands_either_way_round():
    for equation in (sympy.Eq(kv_bytes_per_token, FORMULA), sympy.Eq(FORMULA, kv_bytes_per_token)):
        (one,) = check(equation).claims
        assert (one.verdict, one.id, one.file, one.line, one.claim.says) == (
            "exact",
            "kv_bytes_per_token",
            "",
            0,
            str(equation),
        )


def test_settings_beside_an_equation_and_beside_files(tmp_path):
    (tmp_path / "n.md").write_text("nothing", encoding="utf-8")
    with pytest.raises(
        InputError, match="settings belong in the file; keywords are accepted only with an equation"
    ):
        check(tmp_path / "n.md", batch=3)
    with pytest.raises(InputError, match="efficiency"):
        check(tmp_path / "n.md", efficiency="best")
    with pytest.raises(InputError, match="No such file"):
        check(tmp_path / "none.pdf")
    (tmp_path / "x.pdf").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="a .pdf file cannot hold claims"):
        check(tmp_path / "x.pdf")
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError) as caught:
        check(tmp_path / "x.yaml")
    assert "cannot hold" not in str(caught.value)
