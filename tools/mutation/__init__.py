"""How much the suite notices: small faults are put into a copy of the package, one at a time, and the tests of the room are run.

``python -m tools.mutation [AREA ...] [--count N] [--seed S]``. Not a part of the suite, apart from the unit tests of its operators.
"""
