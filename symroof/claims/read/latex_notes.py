r"""LaTeX source as far as annotations need it: ``% symroof: …`` comments, and the text before each.

A passage is the text of one paragraph, item or cell up to the comment; listings and verbatim text are not read. What is not prose
(other comments, labels, references, environments) is blanked, not cut, so that numbers stay in their places.

>>> [passage] = passages("A cache of 1.34~GB. % symroof: kv_cache_bytes\n")
>>> passage.comment, passage.prose
('symroof: kv_cache_bytes', 'A cache of 1.34~GB. ')
"""

import itertools
import re
from collections.abc import Iterator

from symroof.claims.read.markdown import LONGEST_PASSAGE, MARK, Passage
from symroof.claims.read.tables import MOST_ROWS, NoteCell, NoteTable

COMMENT = re.compile(r"(?<!\\)(?:\\\\)*(%)([^\r\n]*)")
BREAK = re.compile(
    r"(?:\r\n|\r(?!\n)|\n)[ \t]*(?=[\r\n])|\\(?:(?:sub){0,2}section|paragraph|caption|chapter)\*?\{[^{}\r\n]{0,300}\}|\\(?:item|begin|end|hline|midrule|toprule|bottomrule|par)\b|\\\\(?:\[[^\]\r\n]{0,20}\])?"
)
ROW_END = re.compile(r"\\\\(?:\[[^\]\r\n]{0,20}\])?\s*$")
CELL = re.compile(r"(?<!\\)&")
CODE = re.compile(
    r"\\begin\{(verbatim\*?|lstlisting|minted|comment)\}.*?(?:\\end\{\1\}|\Z)", re.DOTALL
)
NO_PROSE = re.compile(
    r"\\(?:label|ref|eqref|autoref|cref|cite[a-z]{0,8}|includegraphics|begin|end|input|include|url|href|hspace|vspace|bibitem|usepackage|documentclass)"
    r"\*?(?:\[[^\]\r\n]{0,200}\]){0,2}(?:\{[^{}\r\n]{0,300}\}){0,1}"
)


TABULAR = re.compile(
    r"\\begin\{(tabular[xy*]?|longtable|array)\}(?:\[[^\]\r\n]{0,20}\])?(?:\{(?:[^{}\r\n]|\{[^{}\r\n]{0,80}\}){0,200}\}){1,2}"
)
RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|(?:cline|cmidrule)(?:\([a-z]{0,2}\))?\{[^{}\r\n]{0,20}\})"
)
ROW = re.compile(r"\\\\(?:\[[^\]\r\n]{0,20}\])?")


def _comments(text: str) -> list[tuple[int, int]]:
    return [(match.start(1), match.end(2)) for match in COMMENT.finditer(text)]


def _listings(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in CODE.finditer(text)]


def passages(text: str) -> Iterator[Passage]:
    """Every annotation of a LaTeX text outside listings, in order."""
    code, comments = _listings(text), _comments(text)
    blank = _blanked(text, comments, code)
    breaks = [0, *(match.end() for match in BREAK.finditer(blank))]
    seen, begun = 0, 0
    for opens, ends in comments:
        if not MARK.match(text, opens + 1, ends) or any(low <= opens < high for low, high in code):
            continue
        while seen < len(breaks) and breaks[seen] <= opens:
            begun, seen = breaks[seen], seen + 1
        yield _passage(
            text,
            blank,
            opens,
            ends,
            begun if blank[begun:opens].strip() else breaks[max(seen - 2, 0)],
        )


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """The prose of every paragraph, item and row outside listings, comments blanked, with the place where it begins."""
    blank = _blanked(text, _comments(text), _listings(text))
    places = sorted({0, *(match.end() for match in BREAK.finditer(blank)), len(text)})
    yield from (
        (low, blank[low:high].replace("&", "|"))
        for low, high in itertools.pairwise(places)
        if blank[low:high].strip()
    )


def tables(text: str) -> list[NoteTable]:
    r"""The tables outside listings: the first row of each is its head, whatever lines it is written on.

    >>> [table] = tables(r"\begin{tabular}{lr} precision & TPOT (ms) \\ \hline fp16 & 7.9 \\ \end{tabular}")
    >>> [cell.text for cell in table.head], table.number(0, 1).text
    (['precision', 'TPOT (ms)'], '7.9 ms')
    """
    quiet = _without(text, [*_comments(text), *_listings(text)])
    every: list[NoteTable] = []
    for opened in TABULAR.finditer(quiet):
        end = quiet.find(rf"\end{{{opened[1]}}}", opened.end())
        if end < 0:
            break
        body = RULES.sub(lambda rule: " " * len(rule[0]), quiet[opened.end() : end])
        edges = [0, *(place for match in ROW.finditer(body) for place in match.span()), len(body)]
        rows = [
            _cells(body[low:high], opened.end() + low)
            for low, high in zip(edges[::2], edges[1::2], strict=True)
            if body[low:high].strip()
        ][: MOST_ROWS + 1]
        if len(rows) > 1:
            every.append(NoteTable(rows[0], tuple(rows[1:]), end))
    return every


def _cells(row: str, start: int) -> tuple[NoteCell, ...]:
    """The cells of a row, the text of each without the blanks around it."""
    edges = [0, *(place for match in CELL.finditer(row) for place in match.span()), len(row)]
    cells = ((low, row[low:high]) for low, high in zip(edges[::2], edges[1::2], strict=True))
    return tuple(
        NoteCell(start + low + len(cell) - len(cell.lstrip()), cell.strip()) for low, cell in cells
    )


def _passage(text: str, blank: str, opens: int, ends: int, begun: int) -> Passage:
    inner = text[opens + 1 : ends]
    at = opens + 1 + len(inner) - len(inner.lstrip())
    start = max(begun, opens - LONGEST_PASSAGE)
    prose = blank[start:opens]
    row = prose if CELL.search(prose) else ""
    if row and not ROW_END.search(prose):
        cell = max(match.end() for match in CELL.finditer(prose))
        if prose[cell:].strip():
            start, prose = start + cell, prose[cell:]
    return Passage(
        start, prose, inner.strip(), at, True, ROW_END.sub("", row).replace("&", "|"), ends
    )


def _blanked(text: str, comments: list[tuple[int, int]], code: list[tuple[int, int]]) -> str:
    """The text with everything blanked that is not prose; a line end stays one."""
    return _without(text, [*comments, *code, *(match.span() for match in NO_PROSE.finditer(text))])


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with stretches of it blanked, but for the ends of lines."""
    pieces, place = [], 0
    for low, high in sorted(spans):
        if high <= place:
            continue
        low = max(low, place)
        pieces += [text[place:low], re.sub(r"[^\r\n]", " ", text[low:high])]
        place = high
    return "".join([*pieces, text[place:]])
