"""How far a precision reaches that a text states: of the number in its clause, of its sentence where it is a what-if, or of the note.

>>> passing("Switching to INT8 halves it", 13), passing("We serve it in INT8", 15)
(True, False)
"""

import re

from symroof.claims.read.numbers import Figure

PARTS = re.compile(r"(?P<end>[;!?](?=\s)|\.(?=\s)|—|\s[-–]\s)|,(?!\d)|[():]|\b(?:and|or|but|while|whereas|versus|vs\.?)\b|(?:->|→|=>)", re.IGNORECASE)
"""What parts clauses; the end of a sentence, and what is as good as one, parts them further."""
SENTENCE_APART = 4
LOOKED_THROUGH = 400
"""Characters between a number and a precision that are looked through; what is farther apart is parted often enough."""
WHAT_IF = re.compile(
    r"\b(?:switch(?:ing|ed)? (?:\w+ )?(?:over )?to|(?:mov|go|chang|quanti[sz])(?:e|es|ing|ed) (?:\w+ )?(?:down )?(?:to|in|with)|would|could|might|if|instead|alternatively|"
    r"halv(?:e|es|ed|ing)|shrinks?|shrunk|drops?|down to|only half|half of (?:that|it)|twice (?:that|as)|unlike|compared (?:to|with))\b|['’]d\b",
    re.IGNORECASE,
)
"""Words of a sentence about a case that is not the one of the text."""
WHAT_IF_REACH = 90
"""Characters between a precision and such words."""
LEADING = re.compile(r"(?:^|[.;:!?]\s+|^\s*(?:[-*+]|\d+[.)])\s+)[*_`]*(?:in|with|at|using|for)\s+(?:an? |the )?[*_`]*$", re.IGNORECASE)


def passing(sentence: str, place: int) -> bool:
    """Whether a sentence names what stands at a place as a what-if: then it says nothing of what comes after."""
    return WHAT_IF.search(sentence, max(place - WHAT_IF_REACH, 0), place + WHAT_IF_REACH) is not None


def leads_its_clause(text: str, place: int) -> bool:
    """Whether a sentence begins with what stands at a place: ``In FP8 the weights take 70 GB``.

    >>> leads_its_clause("It fits. In FP8 it takes 70 GB", 12), leads_its_clause("It is served in FP8", 16)
    (True, False)
    """
    return bool(LEADING.search(text[max(place - 40, 0) : place]))


def in_its_clause(text: str, place: int, figure: Figure) -> tuple[int, int]:
    """How far what stands at a place is from a number: the boundaries of clauses between them, then the characters.

    >>> from symroof.claims.read.numbers import figures
    >>> text = "140 GB in fp16 and 35 GB at 4 bit"
    >>> [[in_its_clause(text, place, figure)[0] for place in (10, 28)] for figure in figures(text)[:2]]
    [[0, 1], [1, 0]]
    """
    low, high = sorted((place, figure.start))
    between = PARTS.finditer(text, low, min(high, low + LOOKED_THROUGH))
    return sum(SENTENCE_APART if match["end"] else 1 for match in between), high - low
