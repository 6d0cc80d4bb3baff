"""Which frame touches which object, for N contacts: objects of one kind are worked on together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from elastocal.errors import DuplicateError, RangeError
from elastocal.model.parameters import Parameter
from elastocal.model.surfaces.surface import Near, Surface
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Touches:
    """Contact i is between ``frame`` (the tip is its origin) and ``surfaces[which[i]]``."""

    frame: str
    surfaces: tuple[Surface, ...]
    which: Ints

    def __post_init__(self) -> None:
        object.__setattr__(self, "which", np.asarray(self.which, dtype=np.int64).reshape(-1))
        names = [p.name for p in self.parameters]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise DuplicateError(
                f"two objects have the same parameter {twice[0]}; give each object a name of its own", value=twice[0]
            )
        bad = np.flatnonzero((self.which < 0) | (self.which >= len(self.surfaces)))
        if len(bad):
            raise RangeError(
                f"contact {bad[0] + 1} names object {self.which[bad[0]] + 1}, but there are {len(self.surfaces)}",
                value=(bad[0] + 1, self.which[bad[0]] + 1, len(self.surfaces)),
            )

    @classmethod
    def one(cls, frame: str, surface: Surface, count: int) -> Touches:
        """All contacts with one object."""
        return cls(frame, (surface,), np.zeros(count, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.which)

    def rows(self, chosen: slice | Ints | Bools) -> Touches:
        return Touches(self.frame, self.surfaces, self.which[chosen])

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Of all objects, one after the other."""
        return tuple(p for s in self.surfaces for p in s.parameters())

    def with_values(self, values: Sequence[float]) -> Touches:
        """Other places and sizes, in the order of ``parameters``."""
        out, first = [], 0
        for surface in self.surfaces:
            count = len(surface.parameters())
            out.append(surface.with_values(values[first : first + count]))
            first += count
        return Touches(self.frame, tuple(out), self.which)

    @cached_property
    def _groups(self) -> tuple[tuple[type[Surface], Ints | None, Array], ...]:
        """A kind, its rows (None: all) and their shapes (s, rows), for every way to compute a distance."""
        ways = [type(s).near for s in self.surfaces]
        used = list(dict.fromkeys(ways[i] for i in np.unique(self.which)))
        out: list[tuple[type[Surface], Ints | None, Array]] = []
        for way in used:
            mine = [i for i, w in enumerate(ways) if w is way]
            table = np.zeros((len(self.surfaces), len(self.surfaces[mine[0]].shape())))
            for i in mine:
                table[i] = self.surfaces[i].shape()
            rows = None if len(used) == 1 else np.flatnonzero(np.isin(self.which, mine))
            which = self.which if rows is None else self.which[rows]
            out.append((type(self.surfaces[mine[0]]), rows, np.ascontiguousarray(table[which].T)))
        return tuple(out)

    def near(self, x: Array) -> Near:
        """Distance, normal and curvature of each contact's object at the points x (3, N)."""
        if len(self._groups) == 1:
            kind, _, shape = self._groups[0]
            return kind.near(shape, x)
        count = x.shape[1]
        out = Near(np.empty(count), np.empty((3, count)), np.empty((3, 3, count)))
        for kind, rows, shape in self._groups:
            part = kind.near(shape, x[:, rows])
            out.distance[rows], out.normal[:, rows], out.hessian[:, :, rows] = part
        return out

    def by_parameters(self, x: Array) -> tuple[Array, Array]:
        """dphi/dpi (p, N) and dn/dpi (3, p, N) by the parameters of all objects; zero for the objects not touched."""
        distance = np.zeros((len(self.parameters), x.shape[1]))
        normal = np.zeros((3, *distance.shape))
        first = 0
        for i, surface in enumerate(self.surfaces):
            slope = surface.slope()
            mine = slice(first, first + slope.shape[1])
            first = mine.stop
            rows = np.flatnonzero(self.which == i)
            if len(rows):
                shape = np.repeat(surface.shape()[:, None], len(rows), axis=1)
                by_distance, by_normal = surface.by_shape(shape, x[:, rows])
                distance[mine, rows] = np.einsum("sn,sp->pn", by_distance, slope)
                normal[:, mine, rows] = np.einsum("isn,sp->ipn", by_normal, slope)
        return distance, normal
