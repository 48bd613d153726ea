"""Numbers in prose that no output before them has, and counts that prose tells."""

import re
from collections.abc import Callable, Iterator

import symroof as sr
from symroof.claims.slips import CATALOGUE
from tools.docs import DOCS, ROOT, found
from tools.docs.examples import BLOCK

NUMBERS = "two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
WORDS = {word: str(number) for number, word in enumerate(NUMBERS, 2)}
UNITS = "%|ms|µs|s|GB|MB|kB|TB/s|TFLOP/s|FLOP/byte|USD"
SAID = re.compile(
    rf"(?<![\w.,-])([−-]?\d+(?:,\d{{3}})*(?:\.\d+)?(?![\w-])|(?:{'|'.join(WORDS)})\b)(?: ({UNITS})(?![\w/]))?",
    flags=re.IGNORECASE,
)
UNREAD = re.compile(r"<!--.*?-->|`[^`]*`|\]\([^)]*\)|^\s*\d+\.", flags=re.DOTALL)
COMPUTED = re.compile(r"<!-- computed: (.*?) -->")


def unfounded(page: str) -> dict[str, list[str]]:
    """Paragraphs after the first output of a page, with their numbers that nothing shown before has, rounded as they are written."""
    wrong = {}
    for paragraph, shown in _paragraphs(page):
        computed = ", ".join(COMPUTED.findall(paragraph)).split(", ")
        missing = [
            said[0]
            for said in SAID.finditer(UNREAD.sub(" ", paragraph))
            if said[0] not in computed and not _is_in(shown, said[1], said[2])
        ]
        if missing:
            wrong[paragraph] = missing
    return wrong


def _paragraphs(page: str) -> Iterator[tuple[str, str]]:
    shown, printed, at = "", False, 0
    for block in [*BLOCK.finditer(page), None]:
        for part in re.split(r"\n\s*\n", page[at : block.start() if block else None]):
            if printed and not part.lstrip().startswith(("#", "|", "![")):
                yield part, shown
        if block:
            shown, at = f"{shown}\n{block['body']}", block.end()
            printed |= block["kind"].strip() == "console"


def _is_in(shown: str, said: str, unit: str | None) -> bool:
    written = WORDS.get(said.lower(), said).replace(",", "").lstrip("−-")
    value, half = float(written), 0.5 * 10.0 ** -len(written.partition(".")[2])
    near = min(half + 1e-9, 0.1 * value)
    alone = {"%": "", None: "", "µs": r"(?<![A-Za-z/])[uµ]s(?!\w)"}
    of_unit = re.compile(alone.get(unit, rf"(?<![A-Za-z/]){unit}(?!\w)"))
    for line in filter(of_unit.search, shown.splitlines()):
        numbers = [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\.?\d*", line)]
        shares = [100 * number for number in numbers if number <= 1] if unit == "%" else []
        numbers = numbers if unit != "%" else list(map(float, re.findall(r"([\d.]+) ?%", line)))
        if any(abs(number - value) <= near for number in numbers + shares):
            return True
    return False


# ----------------------------------------------------------------------------------------------------------------- counts


def _measured() -> int:
    counts = re.findall(r"with ([\d,]+) public", (DOCS / "measured.md").read_text(encoding="utf-8"))
    return int(counts[0].replace(",", ""))


def _priced() -> int:
    paths = ROOT.glob("specs/hardware/*.yaml")
    return sum("\nprices:" in path.read_text(encoding="utf-8") for path in paths)


COUNTED: dict[str, Callable[[], int]] = {
    r"(\d[\d,]*) models": lambda: len(sr.models()),
    r"and (\d[\d,]*) devices": lambda: len(sr.hardware()),
    r"prices of (\d[\d,]*) devices": _priced,
    r"(\d[\d,]*) built-in quantities": lambda: len(sr.quantities()),
    r"(\d[\d,]*) named thresholds": lambda: len(sr.thresholds()),
    r"(\d[\d,]*) engines": lambda: len(found("list engines")["entries"]),
    r"(\d[\d,]*) presets": lambda: len(found("list presets")["entries"]),
    r"(\d[\d,]*) counting choices": lambda: len(found("list assumptions")["entries"]),
    r"(\d[\d,]*) named mistakes": lambda: len({way.slip for way in CATALOGUE}),
    r"(\d[\d,]*) public measurements": _measured,
}
