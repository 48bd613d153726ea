"""A standing attack: inputs made from grammars over the real catalogue, and what must never happen whatever they hold.

``python -m tools.fuzz --minutes 30`` attacks at length, ``--seed`` and ``--area`` choose what; a failure shrinks to a file in
``tests/data/fuzz/``, and the suite replays those. ``open.yaml`` there lists the cases that fail for now.
"""
