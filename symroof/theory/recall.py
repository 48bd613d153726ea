"""What a case has worked out is not what it is: it has no part in comparing, copying and pickling one."""

from dataclasses import MISSING, fields
from typing import Any


class Recall:
    """A dataclass that keeps what it works out. Fields that are not compared are forgotten by copies and pickles, as is all that is cached beside the fields.

    >>> from dataclasses import dataclass, field
    >>> import copy
    >>> @dataclass
    ... class Square(Recall):
    ...     side: int
    ...     known: dict = field(default_factory=dict, compare=False)
    >>> copy.copy(Square(3, {"area": 9}))
    Square(side=3, known={})
    """

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self) if field.compare}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            fresh = field.default if field.default_factory is MISSING else field.default_factory()
            object.__setattr__(self, field.name, state.get(field.name, fresh))
