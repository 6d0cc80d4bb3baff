"""A 6x6 spring at a frame: a link, a tool holder, anything that bends in all directions (003 eq. 1, 8).

theta = k Q with theta = (x, y, z, rx, ry, rz) in the frame's own axes, translation first, and Q the
force conjugate to it.  How many numbers describe k is its ``form`` (003 section 4.2):

=========== === ==================================================================================
full         36 every element on its own
symmetric    21 k_ij = k_ji (M1)
beam          8 the zeros of a beam along x: k11 k22 k26 k33 k35 k44 k55 k66 (M2, eq. 24)
isotropic     1 k = p diag(1, 1, 1, 0, 0, 0): a point that yields alike in all directions (002)
planar        3 k11 k12 k22: a point that yields in the x-y plane of the frame (002 eq. 7)
=========== === ==================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import chain
from math import isfinite
from typing import Any, ClassVar, Literal, Self

import numpy as np

from elastocal.errors import MissingError, RangeError, ShapeError, UnknownNameError
from elastocal.model.elements import FrameCoordinate, Terms
from elastocal.model.frames import FrameTree
from elastocal.model.parameters import Parameter, quantity
from elastocal.model.posture import Posture
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

Form = Literal["full", "symmetric", "beam", "isotropic", "planar"]
Matrix6 = tuple[tuple[float, float, float, float, float, float], ...]
FORMS: tuple[Form, ...] = ("full", "symmetric", "beam", "isotropic", "planar")
_UNIT = (("m/N", "m/(N m)"), ("rad/N", "rad/(N m)"))
_SCALE = ((1e-7, 1e-7), (1e-7, 1e-6))


@cache
def patterns(form: Form) -> tuple[tuple[str, tuple[tuple[int, int], ...]], ...]:
    """Symbol of each parameter and the elements of k that it fills (the omegas of 003 eq. 23)."""
    pairs = [(i, j) for i in range(6) for j in range(6)]
    if form == "isotropic":
        return (("p", ((0, 0), (1, 1), (2, 2))),)
    if form == "full":
        return tuple((f"k{i + 1}{j + 1}", ((i, j),)) for i, j in pairs)
    beam = {(0, 0), (1, 1), (1, 5), (2, 2), (2, 4), (3, 3), (4, 4), (5, 5)}
    places = {"beam": beam, "planar": {(0, 0), (0, 1), (1, 1)}}.get(form, set(pairs))
    kept = [(i, j) for i, j in pairs if i <= j and (i, j) in places]
    return tuple((f"k{i + 1}{j + 1}", ((i, j),) if i == j else ((i, j), (j, i))) for i, j in kept)


@dataclass(frozen=True, kw_only=True)
class LinkCompliance(FrameCoordinate):
    """theta = matrix Q at ``frame``, which moves together with all that hangs on it."""

    kind: ClassVar[str] = "link_compliance"
    linear_in_force: ClassVar[bool] = True
    shorthand: ClassVar[Mapping[str, str]] = {
        "beam": "beam",
        "entries": "SI",
        "isotropic": "linear compliance",
    }

    matrix: Matrix6 = quantity("SI")
    form: Form = "symmetric"

    @classmethod
    def expand(cls, given: dict[str, Any]) -> dict[str, Any]:
        """``beam`` (section and material), ``entries`` (k22: ...) or ``isotropic`` instead of the matrix."""
        ways = [key for key in ("matrix", *cls.shorthand) if key in given]
        if len(ways) != 1:
            message = f"gives {' and '.join(ways)}" if ways else "gives none"
            raise MissingError(f"{cls.kind} needs one of matrix, {', '.join(cls.shorthand)} and {message}")
        if ways == ["matrix"]:
            return given
        value = given.pop(ways[0])
        if ways == ["beam"]:
            k = value.compliance()
        elif ways == ["isotropic"]:
            k = np.diag([float(value)] * 3 + [0.0] * 3)
        else:
            k = _from_entries(value)
        return {**given, "matrix": as_matrix6(k)}

    def check(self, tree: FrameTree) -> None:
        super().check(tree)
        where = f"{self.kind} at {self.frame}"
        if self.form not in FORMS:
            raise RangeError(f"{where}: form {self.form!r} is not one of {', '.join(FORMS)}")
        if not _is_whole(self.matrix):
            raise ShapeError(f"{where}: the compliance must be 6x6 finite numbers")
        lost = misplaced(self.matrix, self.form)
        if lost:
            a, b = lost[0]
            raise RangeError(
                f"{where}: form {self.form} has no place for k{a + 1}{b + 1} = {self.matrix[a][b]:g}; choose another",
                value=(self.form, a + 1, b + 1),
            )

    def check_physics(self) -> None:
        where = f"{self.kind} at {self.frame}"
        k, (asymmetric, smallest) = self.matrix, _broken_laws(self.compliance().tobytes())
        if asymmetric is not None:
            i, j = asymmetric
            raise RangeError(
                f"{where}: not symmetric, k{i + 1}{j + 1} = {k[i][j]:g} but k{j + 1}{i + 1} = {k[j][i]:g}; "
                "an elastic body is symmetric (Maxwell), correct the entry",
                value=(i + 1, j + 1, k[i][j]),
            )
        if smallest < -1e-9 or any(k[i][i] < 0 for i in range(6)):
            raise RangeError(
                f"{where}: indefinite (smallest scaled eigenvalue {smallest:.3g}); "
                "a load would gain energy from it, correct the matrix",
                value=smallest,
            )

    def parameters(self, tree: FrameTree) -> tuple[Parameter, ...]:
        out = []
        for symbol, elements in patterns(self.form):
            i, j = elements[0]
            unit, scale = _UNIT[i // 3][j // 3], _SCALE[i // 3][j // 3]
            out.append(self.parameter(symbol, unit, self.matrix[i][j], scale))
        return tuple(out)

    def with_values(self, values: Sequence[float]) -> Self:
        k = np.zeros((6, 6))
        for (_, elements), value in zip(patterns(self.form), values, strict=True):
            for i, j in elements:
                k[i, j] = value
        return replace(self, matrix=as_matrix6(k))

    def in_form(self, form: Form) -> Self:
        """The same spring described by more or fewer parameters."""
        return replace(self, form=form)

    def compliance(self) -> Array:
        return np.array(self.matrix, dtype=np.float64)

    def sensitivity(self, force: Array, posture: Posture) -> tuple[Terms, ...]:
        return tuple(tuple((i, force[j]) for i, j in elements) for _, elements in patterns(self.form))


@lru_cache(maxsize=1024)
def _broken_laws(matrix: bytes) -> tuple[tuple[int, int] | None, float]:
    """The entry that differs most from its mirror image, and the smallest eigenvalue with the diagonal scaled to one.

    The same matrix is looked at again with every robot that is made of another.
    """
    k = np.frombuffer(matrix).reshape(6, 6)
    size = np.sqrt(np.abs(np.diag(k)))
    bound = np.outer(size, size)
    i, j = divmod(int(np.argmax(np.abs(k - k.T) - 1e-9 * bound)), 6)
    unit = np.where(size > 0, size, 1.0)
    smallest = float(np.linalg.eigvalsh(k / np.outer(unit, unit))[0])
    return ((i, j) if abs(k[i, j] - k[j, i]) > 1e-9 * bound[i, j] else None), smallest


def _is_whole(matrix: Matrix6) -> bool:
    try:
        return [len(row) for row in matrix] == [6] * 6 and all(map(isfinite, chain.from_iterable(matrix)))
    except TypeError:  # no rows, or no numbers
        return False


def misplaced(matrix: Matrix6, form: Form) -> list[tuple[int, int]]:
    """Elements that are not zero and have no place in a form."""
    return [(a, b) for a, b in _absent(form) if matrix[a][b] != 0]


@cache
def _absent(form: Form) -> tuple[tuple[int, int], ...]:
    kept = {e for _, elements in patterns(form) for e in elements}
    return tuple((a, b) for a in range(6) for b in range(6) if (a, b) not in kept)


def fits(matrix: Matrix6, form: Form) -> bool:
    """Whether a form can hold a matrix: its zeros and, but for ``full``, its symmetry."""
    k = np.array(matrix)
    return not misplaced(matrix, form) and (form == "full" or bool(np.allclose(k, k.T, rtol=1e-9, atol=0)))


def _from_entries(entries: Mapping[str, float]) -> Array:
    k = np.zeros((6, 6))
    valid = [symbol for symbol, _ in patterns("full")]
    for symbol, value in entries.items():
        if symbol not in valid:
            raise UnknownNameError("element of the compliance", symbol, valid)
        i, j = int(symbol[1]) - 1, int(symbol[2]) - 1
        k[i, j] = value
        if f"k{j + 1}{i + 1}" not in entries:
            k[j, i] = value
    return k


def as_matrix6(k: Array) -> Matrix6:
    a = np.asarray(k, dtype=np.float64)
    return tuple((r[0], r[1], r[2], r[3], r[4], r[5]) for r in a.tolist())
