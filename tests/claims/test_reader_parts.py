"""Parts of reading a number: its unit, what it is of, which of several is claimed, and how the right one is written in its place."""

from fractions import Fraction

import pytest

from symroof.claims.corrected_numbers import corrected_text, rewritten
from symroof.claims.read.claimed_number import claimed_number, expected_unit, token_lengths
from symroof.claims.read.prose_numbers import figures
from symroof.claims.read.written_number import precision, read_written
from symroof.claims.read.written_units import denominators, money_unit, neighbouring_unit, unit_at

UNITS = {
    "GB/s": "GB/s", "GB per second": "GB/s", "tokens/sec/user": "token/s", "t/s": "token/s", "T/s": "token/s", "t": "", "FLOPS/byte": "FLOP/byte", "GPU-hour": "hour",
    "USD per GPU-hour": "USD/hour", "x": "x", "x4": "", "% of": "%", "ms per token": "ms/token", "KB/token/layer": "KB/token", "gigaflops": "GFLOP",
    "tebibytes per second": "TiB/s", "mebibyte": "MiB", "kilobytes": "kB", "seconds": "s", "microseconds": "us", "Watts": "W", "/s": "s", "GB per": "GB",
    "nothing": "", "": "", "exaflops": "EFLOP", "hrs": "hour", "reqs/s": "request/s", "params": "param", "dollars an hour": "USD/hour",
}  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", UNITS)
def test_the_unit_that_a_text_begins_with(text):
    unit, end = unit_at(f"12{text}", 2)
    assert unit == UNITS[text]
    assert (end == 2) is (not unit)
    assert unit_at(f"12 {text}", 3)[1] == end + 1


@pytest.mark.parametrize(
    ("behind", "unit"),
    [("/token", "USD/token"), (" per token", "USD"), ("/GB", "USD/GB"), (" per GB", "USD"), ("/hour", "USD/hour"), (" per hour", "USD/hour"), (" a word", "USD"), ("", "USD")],
)  # fmt: skip
def test_the_unit_of_a_price_is_over_a_time_or_what_a_bar_says(behind, unit):
    assert money_unit(f"$3{behind}", 2) == (unit, 2 if unit == "USD" else 2 + len(behind))


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("unit", "smaller", "larger"),
    [
        ("ns", "", "us"), ("us", "ns", "ms"), ("µs", "ns", "ms"), ("s", "ms", ""), ("byte", "", "kB"), ("B", "", "kB"), ("KB", "byte", "MB"), ("PB", "TB", ""), ("FLOP", "", "MFLOP"),
        ("PFLOP/s", "TFLOP/s", ""), ("W", "mW", "kW"), ("kJ", "J", ""), ("mJ", "", "J"), ("GB/s/device", "MB/s/device", "TB/s/device"), ("token", "", ""), ("%", "", ""),
    ],
)  # fmt: skip
def test_the_units_beside_a_unit(unit, smaller, larger):
    assert (neighbouring_unit(unit, -1), neighbouring_unit(unit, 1)) == (smaller, larger)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("@141 GB@ per GPU", ["device"]), ("each GPU: @141 GB@", ["device"]), ("Each GPU holds @141 GB@ per layer", ["layer"]), ("@141 GB@ on each of the GPUs", ["device"]),
        ("@3 USD@ per 1K tokens", ["1,000 tokens"]), ("@3 USD@ per 2.5 million tokens", ["2,500,000 tokens"]), ("@3 USD@ per hour", ["hour"]), ("Per request: @3 GB@", ["request"]),
        ("Per GPU it is, in total @3 GB@", []), ("@3 kB@ a layer", ["layer"]), ("@3 kB@/layer/head", ["layer", "head"]), ("@3 kB@ per token per layer", ["token", "layer"]),
        ("Each GPU costs @3 USD@ per hour", ["device", "hour"]), ("@3 GB@ for every user", ["request"]), ("@3 GB@ per word", []), ("@3 GB@", []),
    ],
)  # fmt: skip
def test_what_the_words_around_a_number_say_it_is_of(text, of):
    start, stop = text.index("@"), text.rindex("@") - 1
    assert [str(one) for one in denominators(text.replace("@", ""), start, stop)] == of


def test_the_length_of_the_request_that_a_number_is_of():
    for text, tokens in (
        (" per 4k-token request", "4k"),
        (" per 2,000-token request", "2000"),
        (" per 8k tokens", "8k"),
        (" per 1K tokens", ""),
        (" per token", ""),
    ):
        (one,) = denominators(f"3 GB{text}", 0, 4)
        assert (one.tokens, one.kind) == (tokens, "request" if "request" in text else "token")


@pytest.mark.parametrize(
    ("text", "options"),
    [("4k", (4096, 4000)), ("10k tokens", (10000, 10240)), ("32Ki", (32768,)), ("1k", (1024, 1000)), ("1.5k", (1500, 1536)), ("0k", ()), ("0.001k", (1,)), ("4096", ()),
     ("12 K", (12000, 12288))],
)  # fmt: skip
def test_lengths_that_a_k_may_stand_for(text, options):
    assert token_lengths(text) == options


# -------------------------------------------------------------------------------------------- which number is claimed


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("data", "prose", "value"),
    [
        ({"quantity": "kv_cache_bytes"}, "It has 1.34 GB, 5 ms and 2 bytes each", "1.34 GB"),
        ({"quantity": "kv_cache_bytes"}, "It has 1.34 GB, later 2.68 GB", "2.68 GB"),
        ({"quantity": "weight_bytes"}, "141 GB at 16-bit", "141 GB"),
        ({"quantity": "weight_bytes"}, "141 GB at 16 bits of 70 bytes", "70 byte"),
        ({"quantity": "weight_bytes_per_param"}, "2 bytes per parameter", "2 byte/parameter"),
        ({"quantity": "itl"}, "42 ms, below our 100 ms", "42 ms"),
        ({"quantity": "itl"}, "below our 100 ms", "100 ms"),
        ({"quantity": "itl"}, "the 50 ms target and 42 ms, 12 GB", "42 ms"),
        ({"quantity": "batch"}, "batch 8 takes 3 GB", "8"),
        ({"quantity": "price"}, "costs $2 and 3 USD/hour", "3 USD/hour"),
        ({"quantity": "mfu"}, "at 45 %, 3 ms", "45 %"),
        ({"compare": "itl"}, "1.4x faster", "1.4x"),
        ({"quantity": "itl", "value": "5 ms"}, "takes 5 ms or 6 ms", "5 ms"),
        ({"quantity": "itl", "value": "0.005 s"}, "takes 5 ms or 6 ms", "5 ms"),
        ({"quantity": "itl", "value": "~5 ms"}, "takes 5 ms", "~5 ms"),
        ({"quantity": "itl", "value": "5 ms"}, "takes ~5 ms", "about 5 ms"),
        ({"quantity": "itl", "value": "5"}, "takes 5 ms or 5 GB", "5 GB"),
        ({"relation": "fits"}, "it never fits", "false"),
        ({"relation": "fits"}, "it doesn't fit", "false"),
        ({"relation": "fits"}, "it fits", "true"),
        ({"relation": "decode_bound"}, "is Memory-bound", "memory"),
        ({"relation": "decode_bound"}, "is fine", None),
        ({"relation": "ttft < 1 s"}, "so", "true"),
        ({"moves": "itl"}, "x", None),
    ],
)
def test_the_number_that_a_claim_is_about(data, prose, value):
    assert claimed_number(data, prose).value == value


@pytest.mark.parametrize(
    ("data", "prose", "fault"),
    [
        ({"quantity": "itl"}, "nothing", ("no number in s found before this annotation, in its paragraph or cell", "name the one it is about: value='25 ms'")),
        ({"quantity": "kv_cache_bytes"}, "5 ms", ("no number in byte found before this annotation, in its paragraph or cell", "name the one it is about: value='1.34 GB'")),
        ({"quantity": "batch"}, "3 GB", ("no number in request found before this annotation, in its paragraph or cell", "name the one it is about: value='12 request'")),
        ({"compare": "itl"}, "3 GB", ("no plain number found before this annotation, in its paragraph or cell", "name the one it is about: value='12'")),
        ({"quantity": "itl", "value": "7 ms"}, "takes 5 ms or 6 ms", ("value '7 ms' does not appear before this annotation", "there are: 5 ms, 6 ms")),
        ({"quantity": "itl", "value": "9 ms"}, ", ".join(f"{n} ms" for n in range(1, 8)), ("value '9 ms' does not appear before this annotation", "there are: 3 ms, 4 ms, 5 ms, 6 ms, 7 ms")),
    ],
)  # fmt: skip
def test_a_number_that_is_not_there(data, prose, fault):
    assert claimed_number(data, prose).fault == fault


def test_a_value_that_is_not_there_misses_no_plain_number_of_something_else():
    """Three layers and 12 requests: the plain 3 would do for requests only where nothing is written, so that it is no correction of 12."""
    assert (
        claimed_number({"quantity": "batch", "value": "12 requests"}, "of 3 layers").fault is None
    )
    assert (
        claimed_number({"quantity": "batch", "value": "12 requests"}, "of 3 requests").fault[1]
        == "there are: 3 requests"
    )


def test_a_claim_takes_no_number_before_the_annotation_before_it():
    prose = "5 ms, then 6 ms and 7 GB"
    assert claimed_number({"quantity": "itl"}, prose, previous_end=4).value == "6 ms"
    assert (
        claimed_number({"quantity": "itl"}, prose, previous_end=prose.index(" and")).fault[0]
        == "no number in s found between the previous annotation and this one"
    )
    assert (
        claimed_number({"quantity": "itl"}, "5 ms  ", previous_end=5).value == "5 ms"
    )  # nothing between
    assert (
        claimed_number({"quantity": "itl"}, prose, taken_starts={prose.index("6")}).value == "5 ms"
    )


def test_the_unit_of_the_number_of_a_claim():
    assert expected_unit({"threshold": "batch_to_ridge"}) == "request"
    assert expected_unit({"threshold": "itl = 50 ms", "for": "prompt"}) == "token"
    assert expected_unit({"quantity": "itl"}) == "s"
    assert expected_unit({"expression": "3 GB / 2 s"}) == "byte/s"
    assert expected_unit({"expression": "3 +"}) == "any"
    assert [expected_unit({form: "x"}) for form in ("relation", "moves", "unchecked")] == [
        None,
        None,
        None,
    ]
    assert expected_unit({}) is None


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "unit", "fit"),
    [
        # the unit itself
        ("3 GB", "byte", 0), ("3 GB per layer", "byte", 0), ("3 tok/s", "token/s", 0), ("45 %", "", 0), ("1.4x", "", 0), ("3 requests", "request", 0),
        # of its kind, but as good as the unit where it is of a device, a request, a layer or a head
        ("3 GB per token", "byte", 1), ("3 GB per GPU", "byte", 0), ("3 GB per request", "byte", 0), ("3 GB per GPU per token", "byte", 0), ("3 ms/token", "s", 1), ("3 ms", "s/token", 1),
        # a plain number where that will do
        ("8", "", 1), ("8", "request", 2), ("8", "token", 2), ("8", "FLOP/byte", 2), ("8", "byte", 9), ("8", "token/s", 9), ("8", "FLOP/s", 9),
        # of something else, and not at all
        ("3 USD/hour", "USD", 3), ("3 GB/s", "byte", 3), ("3 GB", "s", 9), ("3 tokens", "request", 9), ("3 GB", "", 9), ("45 %", "byte", 9), ("1.4x", "s", 9),
    ],
)  # fmt: skip
def test_how_well_a_number_fits_a_unit(text, unit, fit):
    assert figures(text)[-1].fit(unit) == fit


def test_a_number_with_any_of_its_words_of_a_part_is_one_of_that_part():
    (figure,) = figures("3 GB/token per layer")
    assert ([one.kind for one in figure.denominators], figure.unit, figure.fit("byte")) == (
        ["token", "layer"],
        "GB/token",
        0,
    )


def test_the_amount_of_a_number_by_which_others_are_the_same():
    amounts = [
        figures(text)[0].amount
        for text in ("3 KB", "3,000 bytes", "3", "3x", "3 to 4 KB", "0.003 MB")
    ]
    assert amounts[0] == amounts[1] == amounts[5] != ()
    assert amounts[0][0] == 3000
    assert amounts[2:5] == [(), (), ()]


SIGNED = {
    "cannot take less than 5 ms": ">= 5 ms", "never below 5 ms": ">= 5 ms", "not over 5 ms": "<= 5 ms", "it does not stop, under 5 ms": "< 5 ms", "less than 5 ms": "< 5 ms", "~5 ms": "about 5 ms",
    "no less than **5** ms": ">= 5 ms", "400 GB/s -> 5 tok/s": "5 token/s", "it is > 5 ms": "> 5 ms", "=> 5 ms": "5 ms", "=< 5 ms": "< 5 ms", "$5 an hour": "5 USD/hour", "under $ 5": "< 5 USD",
    "between 4 and 5 ms": "4..5 ms", "from 4 to 5 ms": "5 ms", "4 to 5 ms": "4..5 ms", "4 and 5 ms": "5 ms", "about 4-5 ms": "about 4..5 ms", "1,5 GB": "1.5 GB", "1,5 million": "1.5e6", "1,5 × 10^3": "1.5e3",
    "3 × 10⁻ s": "3 s", "3 × 10⁻² s": "3e-2 s", "each GPU holds 5 GB": "5 GB", "2.5k tok/s": "2.5e3 token/s",
    "30 ms ± 5 ms": "about 30 ms", "30 ± 5 ms": "about 30 ms", "30 +/- 5 ms": "about 30 ms", "30‑40 ms": "30..40 ms",
    "it leaves -5 GB": "-5 GB", "it leaves (−5.5 GB": "-5.5 GB", "8 -5 GB": "8..5 GB", "8-5 GB": "8..5 GB", "- 5 GB": "5 GB",
}  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", SIGNED)
def test_a_number_is_read_alike_wherever_it_stands(text):
    """However many words stand before its sentence; its places move with it."""
    plain = figures(text)
    assert plain[-1].written == SIGNED[text]
    for length in (*range(1, 33), 60, 118, 119, 120, 121):
        before = "z" * length + ". "
        assert figures(before + text) == [figure.shifted(len(before)) for figure in plain], length


@pytest.mark.parametrize(
    ("words", "number", "reach", "near", "far"),
    [("less than", "5 ms", 28, "< 5 ms", "5 ms"), ("between", "4 and 5 ms", 12, "4..5 ms", "5 ms"), ("from", "4 to 5 ms", 12, "5 ms", "4..5 ms")],
)  # fmt: skip
def test_how_far_before_a_number_its_bound_may_stand(words, number, reach, near, far):
    for characters, written in ((reach, near), (reach + 1, far)):
        assert figures(f"So {words.ljust(characters)}{number}")[-1].written == written


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "power"),
    [(" thousand", 3), (" million", 6), (" Billion", 9), ("-trillion", 12), ("bn", 9), ("M", 6), ("B", 9), ("T", 12), ("k tokens", 3), ("k req", 3), ("e4", 4), (" × 10^5", 5), (" million × 10", 6), ("", 0), (" M", 0)],
)  # fmt: skip
def test_the_power_of_ten_behind_a_number(text, power):
    (figure, *_) = figures(f"7{text}")
    assert (figure.digits, figure.power) == ("7", power)


@pytest.mark.parametrize(
    ("word", "count"), [("thousand", 10**3), ("k", 10**3), ("K", 10**3), ("million", 10**6), ("M", 10**6), ("billion", 10**9), ("B", 10**9), ("2.5 million", 25 * 10**5), ("1,000", 1000)]
)  # fmt: skip
def test_how_many_tokens_a_number_is_of(word, count):
    (one,) = denominators(f"3 USD per {word} tokens", 0, 5)
    assert (one.kind, one.count) == ("token", count)


def test_a_number_has_no_more_than_forty_digits():
    assert [len(figures(f"{'7' * digits} ms")) for digits in (39, 40, 41)] == [1, 1, 0]


# ---------------------------------------------------------------------------------------------- values as they are written


@pytest.mark.parametrize(
    ("text", "unit", "low", "high", "half", "digits"),
    [
        ("25..30 ms", "s", "0.025", "0.03", "0.0005", 2), ("25 ms to 30 ms", "s", "0.025", "0.03", "0.0005", 2), ("25-30 ms", "s", "0.025", "0.03", "0.0005", 2),
        ("2.50–30 ms", "s", "0.0025", "0.03", "0.0005", 3), ("900 us..1.2 ms", "s", "0.0009", "0.0012", "0.00005", 3),
    ],
)  # fmt: skip
def test_both_ends_of_a_range(text, unit, low, high, half, digits):
    written = read_written(text, unit)
    assert (written.low, written.high, written.half_unit, written.digits) == (
        Fraction(low),
        Fraction(high),
        Fraction(half),
        digits,
    )
    assert written.number == (Fraction(low) + Fraction(high)) / 2


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "unit", "value", "half", "digits"),
    [
        ("1.5k tok/s", "token/s", 1500, 50, 2), ("1e3k tok/s", "token/s", None, None, None), ("70.6B", "parameter", 706 * 10**8, 5 * 10**7, 3), ("8 billion", "parameter", 8 * 10**9, 5 * 10**8, 1),
        ("1.4 × 10^11 bytes", "byte", 14 * 10**10, 5 * 10**9, 2), ("1.4 x 10⁻³ s", "s", Fraction(14, 10**4), Fraction(5, 10**5), 2), ("1,34 GB", "byte", 134 * 10**7, 5 * 10**6, 3),
        ("1.43x", "", Fraction(143, 100), Fraction(1, 200), 3), ("0.050", "", Fraction(1, 20), Fraction(1, 2000), 2), ("000", "", 0, Fraction(1, 2), 1), ("-5 ms", "s", Fraction(-5, 1000), Fraction(5, 10**4), 1),
    ],
)  # fmt: skip
def test_a_number_with_its_digits(text, unit, value, half, digits):
    if value is None:
        with pytest.raises(ValueError, match="no number|unknown unit|unit"):
            read_written(text, unit)
        return
    written = read_written(text, unit)
    assert (written.value, written.half_unit, written.digits) == (value, half, digits)


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("7e3 million parameters", "parameter", "unknown unit 'million parameters'"), ("7E3 million parameters", "parameter", "unknown unit 'million parameters'"), ("1E3k tok/s", "token/s", "unknown unit 'k tok'"),
        ("7e3B", "parameter", "is byte, but the quantity is parameter"), ("30..20 ms", "s", "the range '30..20 ms' runs backwards"), ("under soon", "s", "'under soon' holds no number"), ("about it", "s", "'about it' holds no number"),
        ("5 ms ms", "s", "unit"), ("5\n\n", "s", None), ("5 x6", "", "is not a number with a unit|unit"),
    ],
)  # fmt: skip
def test_what_is_no_number_of_a_unit(text, unit, message):
    """A number has an exponent, or a word for thousands and millions, not both."""
    if message is None:
        assert read_written(text, unit).value == 5
        return
    with pytest.raises(ValueError, match=message):
        read_written(text, unit)


@pytest.mark.parametrize(
    ("text", "half", "digits"),
    [
        ("1.340", "0.0005", 4),
        ("140", "0.5", 3),
        ("3.35e12", "5e9", 3),
        ("1_000", "0.5", 4),
        ("-0.07", "0.005", 1),
        ("1E-3", "0.0005", 1),
    ],
)
def test_half_a_unit_of_the_last_digit(text, half, digits):
    assert precision(text) == (Fraction(half), digits)


# ------------------------------------------------------------------------------------- the right number in a wrong one's place


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("digits", "value", "text"),
    [
        ("2.68", "1.342177", "1.34"), ("2.68", "9.996", "10.0"), ("2.6", "0.0996", "0.10"), ("24", "311.7", "312"), ("1,000", "1310720", "1,310,720"), ("2,000.0", "1310.72", "1,310.7"),
        ("7", "0", "0"), ("7.0", "0", "0"), ("30", "8", "8"), ("30.0", "8", "8.00"), ("3", "0.04", "0.04"), ("99", "-1.234", "-1.2"), ("-10.7", "-55.922", "-55.9"), ("-10", "-1234", "-1234"),
    ],
)  # fmt: skip
def test_a_value_with_the_digits_of_a_number(digits, value, text):
    assert rewritten(digits, Fraction(value)) == text


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("text", "value", "corrected"),
    [
        ("about 2.68 GB", "1342177280", "about 1.34 GB"), ("197 µs per token", "0.197", "197 ms per token"), ("0.5 s", "0.197", "0.2 s"), ("50 ms", "0.004", "4 ms"),
        ("50 ms", "5.0", "5 s"), ("50 ms", "4.99", "4990 ms"), ("50 ms", "0.0005", "500 µs"), ("50 ms", "0.00051", "0.51 ms"), ("5 KB/token", "500000", "500 KB/token"),
        ("5.0 KB/token", "1500000", "1.5 MB/token"), ("1,5 GB", "2700000000", "2,7 GB"), ("3 token", "400000", "400000 token"), ("1e3 byte", "2000000", "2000e3 byte"),
        ("-10.7 GB", "-55922000000", "-55.9 GB"), ("-10.7 GB", "69326000000", "69.3 GB"), ("−9.9 GB", "-55922000000", "-56 GB"),
        ("< 50 ms", "0.1", ""), ("5-6 ms", "0.1", ""), ("soon", "0.1", ""), ("5 ms and 6 ms", "0.1", ""),
    ],
)  # fmt: skip
def test_a_text_with_the_right_number_in_it(text, value, corrected):
    """The unit changes from a factor of a hundred on, where a better one gives it one to three digits before the point."""
    assert corrected_text(text, Fraction(value)) == corrected


@pytest.mark.parametrize(
    ("value", "word", "text"),
    [
        (True, True, "true"),
        (False, False, "false"),
        ("Yes", True, "Yes"),
        ("no", False, "no"),
        ("TRUE", True, "TRUE"),
        ("memory", "memory", "memory"),
        ("overhead", "overhead", "overhead"),
    ],
)
def test_truths_and_labels(value, word, text):
    written = read_written(value, "")
    assert (written.word, written.text, written.value) == (word, text, None)
    assert written.word is word or isinstance(word, str)
