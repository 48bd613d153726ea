"""The drafted annotations of a note as a list for people: each number, what it was taken for, and its doubts."""

from symroof.claims.draft.drafted_files import DraftedFile
from symroof.errors import visible


def drafts_text(copy: DraftedFile) -> str:
    """The drafts of one note and the numbers left alone, line by line, under where the copy went."""
    drafted = copy.drafted
    doubtful = sum(bool(one.doubts) for one in drafted.drafts)
    counts = [f"{len(drafted.drafts)} drafted", *([f"{doubtful} of them doubtful"] if doubtful else []), f"{len(drafted.left)} left alone"]
    counts += [f"{drafted.annotated} had one"] if drafted.annotated else []
    width = max((len(text) for text in [*(one.text for one in drafted.drafts), *(one.text for one in drafted.left)]), default=0)
    rows = [(one.line, one.column, one.text, one.quantity + (f"  ({'; '.join(one.doubts)})" if one.doubts else "")) for one in drafted.drafts]
    rows += [(one.line, one.column, one.text, f"left alone: {one.why}") for one in drafted.left]
    lines = [f"  line {line}: {text.ljust(width)}  {words}" for line, _, text, words in sorted(rows)]
    return "\n".join(map(visible, [f"wrote {copy.goal}: {', '.join(counts)}", *lines]))
