"""Command line over study over preset over default, for values, switches, precisions and targets."""

import pytest

from . import H100, cases, write_study

PRESET = "tutorial-mlsysim"


def chosen(path, *arguments):
    (case,) = cases(path, *arguments)
    return case


@pytest.mark.full
def test_command_line_over_study_over_preset_over_default(tmp_path):
    plain = write_study(tmp_path, "plain.yaml")
    preset = write_study(tmp_path, "preset.yaml", preset=PRESET)
    study = write_study(tmp_path, "own.yaml", preset=PRESET, efficiency="{mfu: 0.6}")
    steps = [
        (plain, ("--efficiency", "peak"), 1, "default"),
        (preset, (), 0.5, f"preset {PRESET}"),
        (study, (), 0.6, "study"),
        (study, ("--mfu", "0.7"), 0.7, "command line"),
    ]
    for path, line, value, source in steps:
        result = chosen(path, *line)["inputs"]["mfu"]
        assert (result["value"], result["source"]) == (value, source)


def test_a_single_switch_beside_detail_wins_over_it():
    line = ("--assume", "detail=weights", "--assume", "kv_traffic=on")
    found = cases(*H100, *line)[0]["assumptions"]
    switches = ("parameters", "attention_flops", "kv_traffic", "activations")
    assert [found[name]["value"] for name in switches] == ["nominal", "off", "on", "off"]
