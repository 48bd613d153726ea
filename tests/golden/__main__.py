"""``python -m tests.golden [write] [WORDS ...]``: compare the golden answers, or store them anew."""

import sys
import time

from .answers import questions, store, stored
from .kept import differences

SHOWN = 5
"""Differences of one answer that are printed."""


def main(arguments: list[str]) -> int:
    """Compare, or write, the questions whose name has one of the words; 1 where answers differ."""
    writing = arguments[:1] == ["write"]
    words = arguments[1:] if writing else arguments
    asked = questions()
    chosen = [name for name in asked if not words or any(word in name for word in words)]
    old, changed = stored(), 0
    new = {name: answer for name, answer in old.items() if name in asked}
    start, dearest = time.process_time(), (0.0, "")
    for name in chosen:
        began = time.process_time()
        new[name] = asked[name]()
        dearest = max(dearest, (time.process_time() - began, name))
        found = list(differences(old.get(name), new[name]))
        changed += bool(found)
        if found and (old or not writing):
            more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
            print(f"{name}:", *found[:SHOWN], *more, sep="\n    ", flush=True)
    gone = set(old) - set(asked)
    if writing:
        store(new)
    print(
        f"{len(chosen)} questions, {changed} answers differ, {len(gone)} no longer asked, "
        f"{time.process_time() - start:.0f} s of processor time, "
        f"the most {dearest[0]:.1f} s: {dearest[1]}"
    )
    return int(not writing and bool(changed or gone))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
