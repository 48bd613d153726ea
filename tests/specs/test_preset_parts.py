"""Definitions of presets: named parts, kinds of model that a tool has a formula of its own for, values of one device."""

import re
import time

import pytest

import symroof as sr

from ..tables import table

HEAD = 'name: own\ntitle: Own\nsource: {title: "by hand", date: 2026-01-31}\n'


def counted(tmp_path, text, model="llama-3-8b", **more):
    (tmp_path / "own.yaml").write_text(HEAD + text, encoding="utf-8")
    return sr.Study(model, "h100-sxm", preset=str(tmp_path / "own.yaml"), prompt=1000, **more)


KINDS = """
where:
  width: {formula: d_ff, experts: d_expert}
  chosen: {formula: "1", experts: experts_per_token, latent: "3"}
  work: 2 FLOP*chosen*width*prompt
definitions:
  prefill_time: work/peak_flops
  kv_bytes_per_token: {latent: 7 byte}
"""


@pytest.mark.parametrize(
    ("model", "flops"),
    [
        ("llama-3-8b", 2 * 14336 * 1000),
        ("mixtral-8x7b", 2 * 2 * 14336 * 1000),
        ("deepseek-v2-lite", 2 * 3 * 1408 * 1000),
    ],
)
def test_a_part_is_what_it_is_for_a_kind_of_model(tmp_path, model, flops):
    """A latent cache stands in a model with experts: a part without a text of its own for it takes theirs."""
    study = counted(tmp_path, KINDS, model)
    assert study.value("ttft") * study.value("peak_flops") == flops


def test_a_kind_alone_leaves_other_models_as_they_are_counted(tmp_path):
    assert counted(tmp_path, KINDS, "deepseek-v2-lite").value("kv_bytes_per_token") == 7
    assert counted(tmp_path, KINDS).value("kv_bytes_per_token") == 2 * 32 * 8 * 128 * 2
    assert counted(tmp_path, KINDS).first.result("kv_bytes_per_token").value == sr.Study(
        "llama-3-8b", prompt=1000
    ).value("kv_bytes_per_token")


def test_what_is_set_for_a_device_is_stronger_than_what_is_set_for_all(tmp_path):
    text = "set: {link_latency: 1 us, step_overhead: 1 ms}\nhardware: {h100-sxm: {link_latency: 0.25 us}}\n"
    assert counted(tmp_path, text).value("link_latency") * 10**9 == 250
    assert counted(tmp_path, text).value("step_overhead") * 1000 == 1
    assert counted(tmp_path, text, link_latency="2 us").value("link_latency") * 10**6 == 2


REFUSED = """
where: {batch: '1'} | no name of the theory
where: {Odd: '1'} | cannot be the name of a part
where: {odd: {experts: '1'}} | where.odd.formula: is missing
where: {odd: {formula: '1', dense: '1'}} | where.odd.dense: unknown key
where: {odd: {formula: '1', experts: [2]}} | where.odd.experts: expected text
where: 3 | expected keys and values
where: {odd: '1 +'}, definitions: {itl: odd*1 s} | odd cannot be read as a formula
where: {odd: later, later: '1'}, definitions: {itl: odd*1 s} | unknown name 'later'
where: {odd: batch}, definitions: {itl: odd} | itl
definitions: {itl: {latent: 3 byte}} | byte
definitions: {kv_cache_bytes: {plus: {more: 3 byte}}} | no single definition to add to
where: {odd: '1'}, slips: {even: wrong} | is not set by the preset
"""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("text", "message"), table(REFUSED))
def test_parts_that_cannot_be_read_are_refused(tmp_path, text, message):
    with pytest.raises(sr.InputError, match=message):
        counted(tmp_path, re.sub("}, (?=[ds])", "}\n", text)).value("itl")


@pytest.mark.parametrize("entry", ["definitions: {{{}}}", "hardware: {{{}}}", "slips: {{{}}}"])
def test_thousands_of_unknown_names_are_refused_quickly(tmp_path, entry):
    names = ", ".join(
        f"nosuch{i}: {'{zz: 3}' if 'hardware' in entry else 'itl'}" for i in range(3000)
    )
    started = time.process_time()
    with pytest.raises(sr.InputError):
        counted(tmp_path, entry.format(names)).value("ttft")
    assert time.process_time() - started < 2
