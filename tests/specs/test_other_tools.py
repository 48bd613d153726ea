"""Options of other tools lead to what they are here."""

from symroof.specs.other_tools import equivalent_of_name, equivalent_of_option


def test_options_and_names():
    options = {"--tp-size": "--tp", "--max-num-seqs": "--batch", "--qps": "--set arrival_rate=N/s"}
    assert {option: equivalent_of_option(option, ()) for option in options} == options
    assert equivalent_of_option("-t", ["eval", "-tp=4"]) == "--tp"
    assert equivalent_of_option("--unheard-of", ()) == ""
    assert equivalent_of_option("--gp", ["eval", "--gpu"]) == "", "a word that others begin with"
    assert (equivalent_of_name("max_new_tokens"), equivalent_of_name("batch")) == ("--output", "")
