"""What can go wrong, named by what the user must do about it; every error carries its data beside its sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from copy import copy
from typing import Any, Self

from elastocal.untrusted import LONGEST, in_brief


class ElastocalError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(ElastocalError):
    """The user's input cannot be used: one sentence with what, where, and what to do.

    For programs: ``code`` says what is wrong; ``file``, ``line`` and ``column`` (of a table, or the key of a YAML file)
    where; ``value`` is what stands there and ``allowed`` what may.  ``parameter`` names the argument of a call that is
    wrong or would help: a command line shows it as its option.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "input",
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        value: Any = None,
        allowed: Iterable[Any] = (),
        parameter: str = "",
    ) -> None:
        super().__init__(in_brief(message))
        self.code, self.parameter = code, parameter
        self.file, self.line, self.column = file, line, column
        self.value, self.allowed = value, tuple(allowed)

    def reworded(self, message: str) -> Self:
        """The same error with another sentence."""
        new = copy(self)
        new.args = (in_brief(message),)
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors come back from other processes with their data."""
        return _again, (type(self), self.args, self.__dict__)


class UnknownNameError(InputError):
    """A name that does not exist: ``value`` is the name, ``allowed`` are the valid ones, ``nearest`` one of them."""

    def __init__(self, what: str, name: str, valid: Iterable[str], where: str = "", **data: Any) -> None:
        allowed, name = tuple(valid), str(name)
        near = difflib.get_close_matches(name[:LONGEST].lower(), [v.lower() for v in allowed], 1, 0.5)
        self.nearest = next((v for v in allowed if near and v.lower() == near[0]), None)
        place = f"{where}: " if where else ""
        hint = f"did you mean {self.nearest!r}? " if self.nearest else ""
        known = ", ".join(allowed) if allowed else "none"
        super().__init__(
            f"{place}there is no {what} {name!r}; {hint}valid: {known}",
            **{"code": f"unknown-{what.replace(' ', '-')}", **data},
            value=name,
            allowed=allowed,
        )


def _again(kind: type[InputError], args: tuple[Any, ...], data: dict[str, Any]) -> InputError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(data)
    return error
