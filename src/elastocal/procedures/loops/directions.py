"""One number of each direction u described by one number, by a symmetric matrix, or left as it is.

A gauge along the force reads the compliance P and the backlash G (``model.compliant.gripper_backlash``) as

    p(u) = u^T P u,        g(u) = u^T G^2 u / |G u| = sqrt(u^T M u),   M = G^2

so P is fitted linearly, M by Gauss-Newton from the linear fit of g^2.  Weights are the loops' own variances.  F tests
ask whether one number suffices in place of the matrix, and the matrix in place of the directions.  What the data
reject is still given, as a mean, with its sd raised to the scatter of the directions about it.

Principal values and axes of M are accurate to first order:

    d lambda = v^T dM v,     turn of v1 towards v2 = v2^T dM v1 / (lambda1 - lambda2)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np

from elastocal.errors import InputError
from elastocal.procedures.loops.loop import Estimate, mean_of, unknown
from elastocal.solve.linear import minimise, solve_linear
from elastocal.solve.nested import NestedTest, f_test, undecided
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class DirectionFit:
    """``components`` (m,) of the matrix in the order of ``names``, their covariance, nan where not ``known``.

    ``root`` tells that the number of a direction is sqrt(u^T M u), a half gap, and not u^T P u.
    ``principal`` values are those of the number itself: half axes for a half gap; None where the matrix is not known.
    ``one`` tests one number against the matrix (against the directions where the matrix is not known), ``matrix`` the
    matrix against the directions; ``reason`` says why the matrix is not known.
    """

    dimension: int
    root: bool
    used: Bools
    isotropic: Estimate
    names: tuple[str, ...]
    components: Array
    covariance: Array
    freedom: float
    principal: Principal | None
    one: NestedTest
    matrix: NestedTest
    reason: str

    @property
    def suffices(self) -> str:
        """What describes the directions: ``one number``, ``matrix``, or ``neither``."""
        if self.matrix.rejected:
            return "neither"
        if not self.one.rejected:
            return "one number"
        return "matrix" if self.principal is not None else "neither"

    def at(self, units: Array) -> tuple[Array, Array]:
        """The matrix in directions (n, d): numbers and standard deviations."""
        rows = quadratic_rows(units, units)
        value = rows @ self.components
        if self.root:
            value = np.sqrt(np.where(value > 0, value, nan))
            rows = rows / (2 * value[:, None])
        return value, np.sqrt(np.einsum("nm,mk,nk->n", rows, self.covariance, rows))

    def along(self, unit: Array) -> Estimate:
        """The description that suffices, in one direction."""
        if self.suffices == "one number":
            return self.isotropic
        if self.principal is None:
            return unknown(self.reason)
        value, sd = self.at(unit[None])
        return Estimate(float(value[0]), float(sd[0]), self.freedom)


@dataclass(frozen=True, eq=False)
class Directions:
    """The loops at the gripper: their places among all loops, unit vectors (n, d), and what describes them all.

    ``apart`` names loops that are not straight and take no part, unless most are like that.
    """

    at: tuple[int, ...]
    units: Array
    compliance: DirectionFit
    half_gap: DirectionFit
    apart: tuple[str, ...]


def fit_directions(units: Array, numbers: Sequence[Estimate], root: bool) -> DirectionFit:
    """``units`` (n, d) unit vectors; directions whose number or sd is unknown take no part."""
    value, sd = (np.array([getattr(e, k) for e in numbers]) for k in ("value", "sd"))
    used = np.isfinite(value) & np.isfinite(sd) & (sd > 0)
    dimension = units.shape[1]
    names = tuple(f"k{i + 1}{j + 1}" for i, j in pairs(dimension))
    if not used.any():
        return _nothing(dimension, root, used, names)
    isotropic, free = mean_of(numbers)
    freedom = isotropic.freedom
    y, w = value[used], 1 / sd[used]
    components, covariance, rest, spare, reason = _matrix(quadratic_rows(units[used], units[used]), y, w, root)
    axes = _axes(components, covariance, dimension, root) if not reason else None
    if axes is None:
        reason = reason or "the half gaps fit no ellipse: a half axis would be zero or imaginary"
        one, matrix = free, undecided(0, freedom, reason)
    else:
        gain = float(np.sum((w * (y - isotropic.value)) ** 2)) - rest
        one, matrix = f_test(gain, len(names) - 1, freedom), f_test(rest, spare, freedom)
    if axes is not None and matrix.rejected:
        covariance = covariance * max(1.0, matrix.statistic)
        axes = _axes(components, covariance, dimension, root)
    return DirectionFit(
        dimension, root, used, isotropic, names, components, covariance, freedom, axes, one, matrix, reason
    )


def _matrix(rows: Array, y: Array, w: Array, root: bool) -> tuple[Array, Array, float, int, str]:
    """Components, covariance, weighted sum of squares, spare directions, and why it is not known."""
    m = rows.shape[1]
    nothing = np.full(m, nan), np.full((m, m), nan), nan, 0
    start = w / (2 * np.abs(y)) if root and np.all(y != 0) else w
    fit = solve_linear(start[:, None] * rows, start * (y * np.abs(y) if root else y))
    if not fit.known.all():
        have = m - fit.null.shape[1]
        return *nothing, f"{m} numbers need {m} directions of different lines; these give {have}, measure in more"
    if not root:
        return fit.values, fit.unit_covariance, fit.squares, fit.freedom, ""

    def linear(x: Array) -> tuple[Array, Array]:
        square = rows @ x
        if not np.all(square > 0):
            raise InputError("some are zero or negative", code="no-ellipse")
        g = np.sqrt(square)
        return w * (y - g), (w / (2 * g))[:, None] * rows

    try:
        x = minimise(fit.values, linear, np.add, float(np.max(np.abs(w * y))), "the fit does not converge")
    except InputError as error:
        return *nothing, f"the half gaps fit no ellipse: {error}"
    left, columns = linear(x)
    fit = solve_linear(columns, left)
    return x, fit.unit_covariance, float(left @ left), fit.freedom, ""


def _axes(components: Array, covariance: Array, dimension: int, root: bool) -> Principal | None:
    """Principal values; of the half gaps where ``root``, None where the backlash would not be an ellipsoid."""
    out = principal(components, covariance, dimension)
    if not root:
        return out
    if not np.all(out.values > 0):
        return None
    half = np.sqrt(out.values)
    return Principal(half, out.sd / (2 * half), out.axes, out.angle, out.angle_sd)


def _nothing(dimension: int, root: bool, used: Bools, names: tuple[str, ...]) -> DirectionFit:
    m, reason = len(names), "no direction has a number with an accuracy"
    empty = undecided(0, nan, reason)
    return DirectionFit(
        dimension, root, used, unknown(reason), names, np.full(m, nan), np.full((m, m), nan), nan, None, empty, empty,
        reason,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Principal:
    """``values`` (d,) falling, with their ``sd``; ``axes`` (d, d) as columns, right-handed.

    ``angle`` of the first axis from x towards y, within half a turn, and its sd (in a plane only, else nan).
    """

    values: Array
    sd: Array
    axes: Array
    angle: float
    angle_sd: float


def pairs(dimension: int) -> tuple[tuple[int, int], ...]:
    """Index pairs of the components: the diagonal, then above it."""
    i, j = np.triu_indices(dimension, 1)
    return (*((k, k) for k in range(dimension)), *((int(a), int(b)) for a, b in zip(i, j, strict=True)))


def quadratic_rows(one: Array, other: Array) -> Array:
    """Rows r (n, m) with r . components = one^T M other, for vectors (n, d)."""
    return np.column_stack(
        [
            one[:, i] * other[:, j] if i == j else one[:, i] * other[:, j] + one[:, j] * other[:, i]
            for i, j in pairs(one.shape[1])
        ]
    )


def matrix_of(components: Array, dimension: int) -> Array:
    out = np.zeros((dimension, dimension))
    for value, (i, j) in zip(components, pairs(dimension), strict=True):
        out[i, j] = out[j, i] = value
    return out


def principal(components: Array, covariance: Array, dimension: int) -> Principal:
    values, axes = np.linalg.eigh(matrix_of(components, dimension))
    values, axes = values[::-1], axes[:, ::-1]
    first = axes[:, 0] * (np.sign(axes[np.argmax(np.abs(axes[:, 0]) > 1e-12), 0]) or 1.0)
    axes = np.column_stack([first, *axes.T[1:]])
    axes[:, -1] *= np.sign(np.linalg.det(axes))
    rows = quadratic_rows(axes.T, axes.T)
    sd = np.sqrt(np.einsum("im,mn,in->i", rows, covariance, rows))
    if dimension != 2:
        return Principal(values, sd, axes, np.nan, np.nan)
    turn = quadratic_rows(axes[:, 1:].T, axes[:, :1].T)[0]
    apart = values[0] - values[1]
    angle_sd = float(np.sqrt(turn @ covariance @ turn) / apart) if apart > 0 else np.nan
    return Principal(values, sd, axes, float(np.arctan2(axes[1, 0], axes[0, 0])), angle_sd)
