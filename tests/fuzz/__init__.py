"""A standing attack: inputs made from grammars over the real catalogue, and what must never happen whatever they hold.

``python -m tests.fuzz --minutes 30`` attacks at length, ``--seed`` and ``--area`` choose what; a failure shrinks to a file in
``cases/``, and the suite replays those. ``cases/open.yaml`` lists the cases that fail for now.
"""
