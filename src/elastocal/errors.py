"""What can go wrong, one class for each way in which input is wrong; every error carries its data beside its sentence.

The class gives ``code``, the word that programs and tests ask for.  A site whose error others must tell apart from its
like gives a narrower one (``code="few-poses"`` of a :class:`TooFewError`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, Self

from elastocal.untrusted import LONGEST, in_brief


class InputError(Exception):
    """The one error that is raised on purpose: input that cannot be used, in one sentence: what, where, what to do.

    Raised as one of the classes below.  For programs: ``code`` says what is wrong; ``file``, ``line`` and ``column``
    (of a table, or the key of a YAML file) where; ``value`` is what stands there and ``allowed`` what may.
    ``parameter`` names the argument of a call that is wrong or would help: a command line shows it as its option.
    ``suggested`` are values by parameter that would do, which a command line shows as what to type.
    """

    code: str = "input"

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        value: Any = None,
        allowed: Iterable[Any] = (),
        parameter: str = "",
        suggested: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        super().__init__(in_brief(message))
        self.code, self.parameter = code or type(self).code, parameter
        self.suggested = dict(suggested or {})
        self.file, self.line, self.column = file, line, column
        self.value, self.allowed = value, tuple(allowed)

    @classmethod
    def of(cls, parameter: str, value: Any, why: str) -> Self:
        """An argument that cannot be used: its name, its value and why."""
        shown = f"{value:g}" if isinstance(value, float) else repr(value) if isinstance(value, str) else str(value)
        return cls(f"{parameter} {shown}: {why}", parameter=parameter, value=value)

    def reworded(self, message: str, **data: Any) -> Self:
        """The same error with another sentence, and with the ``data`` of its place."""
        new = copy(self)
        new.args = (in_brief(message),)
        vars(new).update(data)
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors come back from other processes with their data."""
        return _again, (type(self), self.args, self.__dict__)


class MissingError(InputError):
    """Something that is needed is not given: a column, a key, a value, a choice, an option."""

    code = "missing"


class DuplicateError(InputError):
    """One thing is given twice: a name, a column, a reading, a value in two ways."""

    code = "duplicate"


class ConflictError(InputError):
    """Two things that were given do not go together: options, units of tables, a calibration and another robot."""

    code = "conflict"


class FormatError(InputError):
    """A text or a file that is not what it should be: its syntax, its kind, its encoding."""

    code = "format"


class FileError(InputError):
    """A file that cannot be found, opened, listened to or written."""

    code = "file"


class UnitError(InputError):
    """A unit is missing or does not fit, or the numbers are those of another unit."""

    code = "unit"


class NumberError(InputError):
    """Not a number, or not a finite one."""

    code = "number"


class WrongTypeError(InputError):
    """A value of another type than is needed: a text for a number, a number for a list."""

    code = "type"


class RangeError(InputError):
    """A number or a choice outside of what is allowed."""

    code = "range"


class ShapeError(InputError):
    """An array, a list or a table of another size than is needed."""

    code = "shape"


class TooFewError(InputError):
    """Too few readings, poses, candidates or draws for what is asked of them."""

    code = "too-few"


class UnobservableError(InputError):
    """The readings or the plan cannot tell what is sought: nothing depends on it, or only on it and others together."""

    code = "unobservable"


class ImplausibleError(InputError):
    """The readings contradict the robot or each other: a sign, a swapped column, another zero, another robot."""

    code = "implausible"


class InfeasibleError(InputError):
    """Nothing satisfies what is asked: out of reach, no candidate left, no equilibrium, no convergence."""

    code = "infeasible"


class UnsupportedError(InputError):
    """This robot, instrument, format or program has no such thing."""

    code = "unsupported"


class ExtraMissingError(InputError):
    """A package of an extra is not installed; ``value`` is the extra."""

    code = "extra-missing"

    @classmethod
    def needed(cls, what: str, extra: str, instead: str = "", **data: Any) -> Self:
        """What needs which package, the command that installs it in any shell, and what would do without."""
        command = f'pip install "elastocal[{extra}]"'
        return cls(f"{what}; {command}{f', or {instead}' if instead else ''}", value=extra, **data)


class UnknownNameError(InputError):
    """A name that does not exist: ``value`` is the name, ``allowed`` are the valid ones, ``nearest`` one of them.

    Its code names what it is the name of: ``unknown-joint``.  Of many valid names the sentence gives the nearest, and
    ``more`` where all are listed.
    """

    code = "unknown-name"

    def __init__(
        self, what: str, name: str, valid: Iterable[str], where: str = "", more: str = "", **data: Any
    ) -> None:
        allowed, name = tuple(valid), str(name)
        near = difflib.get_close_matches(name[:LONGEST].lower(), [str(v).lower() for v in allowed], 1, 0.5)
        self.nearest = next((v for v in allowed if near and str(v).lower() == near[0]), None)
        place = f"{where}: " if where else ""
        hint = f"did you mean {self.nearest!r}? " if self.nearest else ""
        known = _listed(name, allowed, more)
        super().__init__(
            f"{place}there is no {what} {name!r}; {hint}valid: {known}",
            **{"code": f"unknown-{what.replace(' ', '-')}", **data},
            value=name,
            allowed=allowed,
        )


LIST = 400
"""Characters of valid names that a sentence gives; of more it gives the nearest ones."""


def _listed(name: str, allowed: tuple[str, ...], more: str) -> str:
    whole = ", ".join(map(str, allowed)) or "none"
    if len(whole) <= LIST:
        return whole
    lower = {v.lower(): v for v in reversed(allowed)}
    near = difflib.get_close_matches(name[:LONGEST].lower(), lower, 5, 0.0)
    return (
        f"{', '.join(lower[word] for word in near)} and {len(allowed) - len(near)} others{f' ({more})' if more else ''}"
    )


def _again(kind: type[InputError], args: tuple[Any, ...], data: dict[str, Any]) -> InputError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(data)
    return error
