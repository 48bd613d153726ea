"""The words a claim of a note is shown with: its sentence, or its row."""

import re

from symroof.claims.read.latex_text import bare

LONGEST_SENTENCE = 300
SENTENCE_END = re.compile(r"(?<=[.!?])[\s*_`)\"”]*\s+(?=[\"“'(*_`\[]*[^\W_a-z])")
MARKUP = re.compile(r"`{1,3}|\*{2,3}|(?<![\w)])\*|\*(?![\w(])|(?<!\w)_{1,2}|_{1,2}(?!\w)|!?\[|\]|&nbsp;|^\W*\|")


def sentence(prose: str, place: int, fresh: int = 0) -> str:
    """The sentence around a place, without marks, on one line, not too long; none of what another annotation is about.

    >>> sentence("It fits. A **4,096-token** prompt takes `1.34 GB`. ", 45)
    'A 4,096-token prompt takes 1.34 GB.'
    >>> sentence("It takes *about* 2*8e9*2048/330e12 = 0.1 s. ", 40)
    'It takes about 2*8e9*2048/330e12 = 0.1 s.'
    """
    prose = bare(prose)
    begins = max((match.end() for match in SENTENCE_END.finditer(prose) if match.end() <= place), default=0)
    ends = next((match.start() for match in SENTENCE_END.finditer(prose) if match.start() > place), len(prose))
    if begins < fresh <= place and re.search(r"\w", prose[fresh:ends]):
        begins = fresh
    words = " ".join(MARKUP.sub(" ", prose[begins:ends]).replace("{,}", ",").split()).strip("|#> ").lstrip(",;:. ").rstrip(",; ")
    return _cut(re.sub(r"\s+(?=[.,;:!?)%](?:\s|$))|(?<=[(])\s+", "", words))


def row_text(row: str) -> str:
    """A table row up to its comment, its cells side by side.

    >>> row_text("| 4,096 | **1.34 GB** ")
    '4,096 | 1.34 GB'
    """
    cells = (" ".join(MARKUP.sub(" ", cell).split()) for cell in bare(row).split("|"))
    return _cut(" | ".join(cell for cell in cells if cell))


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST_SENTENCE else words[:LONGEST_SENTENCE].rstrip() + " …"
