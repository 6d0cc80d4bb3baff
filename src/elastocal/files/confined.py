"""A cell that was received from somebody writes only inside itself.

Its cell.yaml may name any place, and a folder of it may be a link that leads elsewhere.  Within ``confined`` all that
this package writes is checked by where it would really go; only places that the user has typed may lie elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from elastocal.errors import InputError
from elastocal.values import dataclass


@dataclass(frozen=True)
class Bounds:
    """``root`` is the folder of the cell, ``typed`` are places elsewhere; all are resolved."""

    root: Path
    typed: tuple[Path, ...] = ()

    def hold(self, path: Path) -> bool:
        place = path.resolve()
        return any(place.is_relative_to(folder) for folder in (self.root, *self.typed))


_bounds: ContextVar[Bounds | None] = ContextVar("bounds", default=None)


@contextmanager
def confined(root: Path, typed: tuple[Path, ...] = ()) -> Iterator[Bounds]:
    """Within it nothing is written outside of ``root`` but in ``typed`` places and below them."""
    bounds = Bounds(root.resolve(), tuple(path.resolve() for path in typed))
    token = _bounds.set(bounds)
    try:
        yield bounds
    finally:
        _bounds.reset(token)


def bounds() -> Bounds | None:
    """Where this run may write; None where it may anywhere."""
    return _bounds.get()


def check_inside(path: Path, name: str = "") -> None:
    """Refuse a place out of bounds; ``name`` is what the user knows it by."""
    within = _bounds.get()
    if within is None or within.hold(path):
        return
    place = path.resolve()
    raise InputError(
        f"{f'{name} ' if name else ''}{path}: would be written to {place}, outside of the cell; what a cell says or "
        "links to is written inside of it only, so type the place on the command line if it is meant",
        code="outside",
        file=str(path),
        value=str(place),
    )
