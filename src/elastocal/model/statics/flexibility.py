"""All compliant coordinates of a model put together: theta = c(q) + k Q + backlash(Q) over the flexible ones.

c, theta without load, is the affair of the ``Posture``; k and the backlash are the same at every configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.errors import RangeError
from elastocal.model.elements import CompliantCoordinate
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

SHORT = 500
"""Numbers of a coordinate up to which picking many coordinates at once takes less time than one after the other."""


@dataclass(frozen=True, eq=False)
class Flexibility:
    """``dofs``: chain indices that bend, in chain order; ``blocks``: runs of them that k couples."""

    dofs: tuple[int, ...]
    compliance: Array
    backlashes: tuple[tuple[CompliantCoordinate, tuple[int, ...]], ...]
    blocks: tuple[slice, ...]
    rotates: Bools

    @property
    def n(self) -> int:
        return len(self.dofs)

    @cached_property
    def place(self) -> dict[int, int]:
        """Number of each coordinate by its number in the chain."""
        return {dof: i for i, dof in enumerate(self.dofs)}

    @cached_property
    def bending(self) -> Ints:
        """Numbers of the coordinates that have compliance or backlash; the others only may be off."""
        on = (self.compliance != 0).any(axis=0) | (self.compliance != 0).any(axis=1)
        on[[i for _, at in self.backlashes for i in at]] = True
        return np.flatnonzero(on)

    @cached_property
    def bending_compliance(self) -> Array:
        """k of these."""
        return np.asarray(self.compliance[np.ix_(self.bending, self.bending)])

    @cached_property
    def bending_alone(self) -> Flexibility:
        """The same of these coordinates."""
        place = {int(i): k for k, i in enumerate(self.bending)}
        at = [np.searchsorted(self.bending, (b.start, b.stop)).tolist() for b in self.blocks]
        return Flexibility(
            tuple(self.dofs[i] for i in place),
            self.bending_compliance,
            tuple((c, tuple(place[i] for i in own)) for c, own in self.backlashes),
            tuple(slice(a, b) for a, b in at if b > a),
            self.rotates[self.bending],
        )

    @cached_property
    def nonzeros(self) -> tuple[tuple[int, int, float], ...]:
        """Row, column and value of the non-zeros of k."""
        return tuple((i, j, float(self.compliance[i, j])) for i, j in np.argwhere(self.compliance).tolist())

    @cached_property
    def _terms(self) -> dict[int, list[tuple[int, float]]]:
        """Column and value of the non-zeros in each row of k that has any."""
        out: dict[int, list[tuple[int, float]]] = {}
        for i, j, k in self.nonzeros:
            out.setdefault(i, []).append((j, k))
        return out

    @cached_property
    def _rounds(self) -> list[tuple[Ints, Ints, Array]]:
        """Rows, columns and values of k: the first of every row together, then the second of those that have one."""
        rounds: dict[int, list[tuple[int, int, float]]] = {}
        for i, row in self._terms.items():
            for number, (j, k) in enumerate(row):
                rounds.setdefault(number, []).append((i, j, k))
        return [(np.array(i), np.array(j), np.array(k)) for i, j, k in (zip(*r, strict=True) for r in rounds.values())]

    def add_bends(self, out: Array, at: int, force: Array) -> None:
        """Add to bends (n, N) those that a force (N,) on one coordinate causes."""
        for i, j, k in self.nonzeros:
            if j == at:
                out[i] += k * force

    def linear(self, force: Array) -> Array:
        """k Q for forces (n, ..., N), skipping zeros of k; the same bits for any N."""
        if force[:1].size > SHORT:
            return self.bend(slice(0, self.n), force)
        out = np.zeros_like(force)
        for rows, columns, k in self._rounds:
            out[rows] += k.reshape(-1, *[1] * (force.ndim - 1)) * force[columns]
        return out

    def bend(self, b: slice, force: Array, backlash: Array | None = None) -> Array:
        """(k + backlash) times the forces (d, ..., N) of one block, or of some that follow each other."""
        out = np.zeros_like(force)
        for i, ((j, k), *rest) in self._terms.items():
            if b.start <= i < b.stop:
                np.multiply(force[j - b.start], k, out=out[i - b.start])
                for j, k in rest:
                    out[i - b.start] += k * force[j - b.start]
        if backlash is not None:
            self.add_backlash(out, backlash, force, b)
        return out

    def add_backlash(self, out: Array, backlash: Array, force: Array, b: slice | None = None) -> None:
        """Add the tangent (n, n, N) of backlash times the forces (d, ..., N) of all coordinates, or of a run ``b``."""
        first, stop = (0, self.n) if b is None else (b.start, b.stop)
        for _, at in self.backlashes:
            if first <= at[0] < stop:
                own, here = slice(at[0], at[-1] + 1), slice(at[0] - first, at[-1] + 1 - first)
                out[here] += np.einsum("ijn,j...n->i...n", backlash[own, own], force[here])

    def bend_columns(self, b: slice, feels: slice, backlash: Array | None = None) -> Array:
        """Columns ``feels`` of (k + backlash) of one block: (d, f), or (d, f, N) with backlash."""
        k = self.compliance[b, b][:, feels]
        return k if backlash is None else k[:, :, None] + backlash[b, b][:, feels]

    def backlash_shift(self, force: Array) -> Array:
        """Backlash part of theta (n, N) for forces (n, N)."""
        theta = np.zeros_like(force)
        for own, shift, _ in self._backlashes(force):
            theta[own] += shift
        return theta

    def backlash(self, force: Array) -> tuple[Array, Array]:
        """Backlash part of theta (n, N) for forces (n, N), and its tangent (n, n, N)."""
        theta = np.zeros_like(force)
        tangent = np.zeros((self.n, self.n, force.shape[1]))
        for own, shift, slope in self._backlashes(force):
            theta[own] += shift
            tangent[own, own] += slope
        return theta, tangent

    def _backlashes(self, force: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Of every backlash its coordinates, which follow each other, what it adds to theta there, and its tangent."""
        for coordinate, at in self.backlashes:
            own = slice(at[0], at[-1] + 1)
            shift = coordinate.backlash(force[own])
            assert shift is not None
            yield own, *shift

    def rotating(self, b: slice) -> slice:
        """The run of coordinates of a block that holds all its rotations."""
        at = np.flatnonzero(self.rotates[b])
        return slice(int(at[0]), int(at[-1]) + 1) if len(at) else slice(0, 0)

    def scaled(self, factor: float) -> Flexibility:
        """All compliances times a factor."""
        return replace(self, compliance=factor * self.compliance)

    def transposed(self) -> Flexibility:
        symmetric = np.array_equal(self.compliance, self.compliance.T)
        return self if symmetric else replace(self, compliance=self.compliance.T)

    def root(self) -> Array:
        """A matrix B (n, r) with k = B B^T, where k is symmetric and positive semidefinite."""
        out = []
        for b in self.blocks:
            k = self.compliance[b, b]
            _check_physical(k)
            size = np.sqrt(np.diag(k))
            unit = np.where(size > 0, size, 1.0)
            values, vectors = np.linalg.eigh(k / np.outer(unit, unit))
            root = np.zeros((self.n, len(size)))
            root[b] = unit[:, None] * vectors * np.sqrt(np.clip(values, 0.0, None))
            out.append(root[:, values > 1e-15])
        return np.concatenate(out, axis=1) if out else np.zeros((0, 0))


def _check_physical(k: Array) -> None:
    """Estimated parameters may leave physics: then there is a compliance but no elastic energy."""
    size = np.sqrt(np.abs(np.diag(k)))
    unit = np.where(size > 0, size, 1.0)
    even = k / np.outer(unit, unit)
    if np.abs(even - even.T).max() > 1e-9 or np.linalg.eigvalsh(even)[0] < -1e-9:
        raise RangeError(
            "a compliance of this model is not symmetric and positive (an estimate that violates physics), "
            "so no stiffness exists; describe the link by the symmetric or beam form"
        )


def assemble(model: Robot, also: Iterable[int] = ()) -> Flexibility:
    """Everything that bends, and the chain indices ``also`` as coordinates of zero compliance."""
    key = tuple(also)
    known = model.assembled.get(key)
    if known is None and key and set(key) <= assemble(model).place.keys():
        known = model.assembled[key] = assemble(model)
    if known is None:
        known = model.assembled[key] = _assembled(model, key)
    return known


def _assembled(model: Robot, also: tuple[int, ...]) -> Flexibility:
    index = model.chain.index
    total = len(model.chain.dofs)
    compliance = np.zeros((total, total))
    with_backlash: list[tuple[CompliantCoordinate, tuple[int, ...]]] = []
    groups: list[tuple[int, ...]] = []
    for c in model.compliant:
        at = tuple(index[d] for d in c.dofs)
        for i, j, k in c.terms:
            compliance[at[i], at[j]] += k
        if c.has_backlash:
            with_backlash.append((c.coordinate, at))
            groups.append(at)
        elif c.active:
            groups.append(tuple(at[i] for i in c.active))
    groups += [(i,) for i in also]
    bends = sorted({i for group in groups for i in group})
    local = {dof: i for i, dof in enumerate(bends)}
    spans = [(min(local[i] for i in g), max(local[i] for i in g)) for g in groups]
    return Flexibility(
        tuple(bends),
        compliance[np.ix_(bends, bends)],
        tuple((c, tuple(local[i] for i in at)) for c, at in with_backlash),
        _merged(spans),
        np.array([model.chain.rotates[i] for i in bends], dtype=bool),
    )


def flexible(model: Robot) -> Flexibility:
    """All that bends or moves with the joints, and all joints, whose torques or motions are wanted."""
    return assemble(model, sorted({*model.joint_dofs, *model.varying_dofs}))


def _merged(spans: list[tuple[int, int]]) -> tuple[slice, ...]:
    out: list[list[int]] = []
    for low, high in sorted(spans):
        if out and low <= out[-1][1]:
            out[-1][1] = max(out[-1][1], high)
        else:
            out.append([low, high])
    return tuple(slice(low, high + 1) for low, high in out)
