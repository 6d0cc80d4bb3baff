"""What can go wrong, named by what the user must do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ElastocalError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(ElastocalError):
    """The user's input cannot be used: one sentence with what, where, and what to do."""


class UnknownNameError(InputError):
    """A name that does not exist; carries the valid ones and the nearest."""

    def __init__(self, what: str, name: str, valid: Iterable[str], where: str = "") -> None:
        self.name = name
        self.valid = tuple(valid)
        near = difflib.get_close_matches(name.lower(), [v.lower() for v in self.valid], 1, 0.5)
        self.nearest = next((v for v in self.valid if near and v.lower() == near[0]), None)
        place = f"{where}: " if where else ""
        hint = f"did you mean {self.nearest!r}? " if self.nearest else ""
        known = ", ".join(self.valid) if self.valid else "none"
        super().__init__(f"{place}there is no {what} {name!r}; {hint}valid: {known}")
