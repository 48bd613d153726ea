r"""LaTeX in prose, as plain text, every remaining character in its original place.

Markup is blanked, not cut, so that a number of the plain text lies at the same place of the file. Only the commands that
numbers and units are set with are known; anything else stays as it is.

>>> " ".join(without_latex(r"$\approx 1.4 \times 10^{11}\,\mathrm{bytes}$, or $3 an hour").split())
'≈ 1.4 × 10^{11} bytes , or $3 an hour'
"""

import re

SIGNS = {
    "approx": "≈", "simeq": "≈", "sim": "~", "le": "≤", "leq": "≤", "leqslant": "≤", "lesssim": "≲", "ge": "≥", "geq": "≥", "geqslant": "≥", "gtrsim": "≳",
    "lt": "<", "gt": ">", "times": "×", "cdot": "·", "%": "%", "$": "$", "quad": " ", "(": " ", ")": " ", "[": " ", "]": " ",
}  # fmt: skip
COMMAND = re.compile(
    rf"\\({'|'.join(re.escape(name) for name in sorted(SIGNS, key=len, reverse=True))})(?![A-Za-z])|\\([()\[\]%$])"
)
SPACE = re.compile(r"\\[,;:! ](?!\d{3})|(?<=[\d}])~(?=[\\A-Za-z$])|(?<=[\d}] )~(?=[\\A-Za-z])")
"""Not between thousands, which belong to one number."""
INSIDE = r"\s*\{([^{}]{0,80})\}"
PAIR = re.compile(rf"\\(?:SI|qty){INSIDE}{INSIDE}")
RATIO = re.compile(rf"\\[dt]?frac{INSIDE}(?<=[A-Za-z\s]\}}){INSIDE}")
"""Of units: with a number above, it is arithmetic."""
WRAPPED = re.compile(
    rf"\\(?:text|textrm|textbf|textit|texttt|mathrm|mathbf|mathsf|mathit|mathtt|operatorname|boxed|num|si|unit){INSIDE}"
)
SIUNITX = {
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "peta": "P",
    "kibi": "Ki",
    "mebi": "Mi",
    "gibi": "Gi",
    "tebi": "Ti",
    "milli": "m",
    "micro": "u",
    "nano": "n",
}
NAMED = {
    "second": "s",
    "byte": "B",
    "bit": "bit",
    "hour": "hour",
    "watt": "W",
    "joule": "J",
    "hertz": "Hz",
    "percent": "%",
    "flop": "FLOP",
    "token": "token",
}
MACRO = re.compile(rf"(?:\\({'|'.join(SIUNITX)})\s{{0,4}})?\\({'|'.join(NAMED)})(?![A-Za-z])")
PER = re.compile(r"\\per(?![A-Za-z])")
"""Prefixes and units as macros, as siunitx writes them."""
SUM, PRODUCT = re.compile(r"[+−]|(?<=\s)-(?=\s)"), re.compile(r"\\(?:times|cdot)|[×·*]")
"""Signs that join terms and factors."""
DEEPEST = 3
FORMULA = re.compile(r"(?<!\\)(\${1,2})(?=\S)((?:\\.|[^$\\]){1,400})(?<!\s)\1(?!\d)", re.DOTALL)
"""Between dollars as Pandoc reads them: nothing blank inside them, no digit behind the second; else they are money."""

TIDY = (
    (re.compile(r"[*_`\\]|\$(?!\s?[\d.])|&nbsp;|&thinsp;"), " "),
    (re.compile(r"[{}]"), ""),
    (re.compile(r"\s+([×·])\s*|\s*([×·])\s+"), r" \1\2 "),
    (re.compile(r"\s*--\s*"), "–"),
    (re.compile(r"(?<=[^\W\d])\s*/\s*(?=[^\W\d])"), "/"),
)
"""Marks that a person would not write, and their replacements."""


def without_latex(text: str) -> str:
    """A text of the same length without the markup of LaTeX around numbers and units."""
    if not any(mark in text for mark in "\\~$"):
        return text
    text = FORMULA.sub(lambda match: f"{' ' * len(match[1])}{match[2]}{' ' * len(match[1])}", text)
    text = MACRO.sub(
        lambda match: f"{SIUNITX.get(match[1], '')}{NAMED[match[2]]}".ljust(len(match[0])),
        PER.sub("/   ", text),
    )
    text = SPACE.sub(lambda match: " " * len(match[0]), text)
    for _ in range(DEEPEST):
        before = text
        text = PAIR.sub(_inside, RATIO.sub(_over, WRAPPED.sub(_inside, text)))
        if text == before:
            break
    return COMMAND.sub(lambda match: SIGNS[match[1] or match[2]].rjust(len(match[0])), text)


def _inside(match: re.Match[str]) -> str:
    """The text in the braces of a match, in its original place."""
    characters = [" "] * len(match[0])
    for group in range(1, (match.lastindex or 0) + 1):
        low, high = (place - match.start() for place in match.span(group))
        characters[low:high] = match[group]
    return "".join(characters)


def _over(match: re.Match[str]) -> str:
    """One over the other, each that is more than a factor in brackets; unchanged where there is no room for them."""
    characters = list(_inside(match))
    (start, end), (below, last) = (
        (low - match.start(), high - match.start()) for low, high in map(match.span, (1, 2))
    )
    if SUM.search(match[1]):
        if not match[1][-1:].isspace():
            return match[0]
        characters[start - 1], characters[end - 1] = "(", ")"
    characters[end] = "/"
    if SUM.search(match[2]) or PRODUCT.search(match[2]):
        characters[below - 1], characters[last] = "(", ")"
    return "".join(characters)


def without_marks(text: str) -> str:
    r"""A bare number with its unit as a person would write it: without marks, on one line.

    >>> without_marks(without_latex(r"**1.4**$\times10^{11}\,\text{B}$"))
    '1.4 × 10^11 B'
    """
    for pattern, instead in TIDY:
        text = pattern.sub(instead, text)
    return " ".join(text.split())
