"""Forces of all loads, written out for one chain: on numbers, or on symbols, once, as straight-line code.

Joint motions, wrenches, masses, gravity and compliances are inputs of the code, so that one serves a whole fit; what is
exactly zero is left out, but for masses.  A load that does not run on symbols, as one from another package may not, is
worked out on numbers every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from elastocal.model import straight_line
from elastocal.model.chain import Chain, ChainState
from elastocal.model.loads.wrench import AppliedWrenches, Resultant, at_frame
from elastocal.spatial import entries as en
from elastocal.spatial.entries import ORIGIN, Array, Bools, Entry
from elastocal.spatial.tape import Code
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.model.elements import Load
    from elastocal.model.posture import Posture
    from elastocal.model.robot import Robot
    from elastocal.model.statics.flexibility import Flexibility

LATER = 6
"""Uses after which a code is made: making it takes as long as some ten."""
Placed = tuple[int, Resultant]
"""The number of degrees of freedom that a wrench is felt by, and the wrench."""


@dataclass(frozen=True)
class Loading:
    """What the code depends on: where forces are wanted, what pushes there, and which of its numbers are not zero."""

    dofs: tuple[int, ...]
    loads: tuple[Load, ...]
    gravity: tuple[bool, ...]
    applied: tuple[tuple[str, bool, tuple[bool, ...]], ...]
    compliance: tuple[tuple[int, int], ...]
    tangent: bool


@dataclass(frozen=True, eq=False)
class ForceRows:
    """Forces of all loads on N configurations whose degrees of freedom move by a ``pattern``; made ready once."""

    flex: Flexibility
    model: Robot
    applied: Sequence[AppliedWrenches]
    pattern: straight_line.Pattern
    size: int
    tangent: bool = False

    def take(self, rows: Bools) -> ForceRows:
        """For some of the configurations."""
        some = replace(self, applied=[w.picked(rows) for w in self.applied], size=int(np.count_nonzero(rows)))
        vars(some).update({k: v for k, v in vars(self).items() if k in ("made", "numbers")})
        # a component that is zero in all of them stays an input: the code is that of all configurations
        vars(some).update(_loading=self._loading, wrenches=[np.asarray(w)[rows] for w in self.wrenches])
        return some

    @cached_property
    def compliance(self) -> tuple[tuple[int, int, float], ...]:
        return () if self.tangent else self.flex.nonzeros

    @cached_property
    def wrenches(self) -> list[Array]:
        """The components of what is applied that are not zero."""
        return [e for w in self.applied for e in w.entries if not isinstance(e, float)]

    @cached_property
    def numbers(self) -> list[float]:
        gravity: list[float] = self.model.gravity.tolist()
        return [*(g for g in gravity if g), *self.model.load_values[1], *(c for _, _, c in self.compliance)]

    @cached_property
    def _loading(self) -> Loading:
        applied = tuple((w.frame, w.follows, tuple(not isinstance(e, float) for e in w.entries)) for w in self.applied)
        gravity = tuple(g != 0 for g in self.model.gravity.tolist())
        k = tuple((i, j) for i, j, _ in self.compliance)
        return Loading(self.flex.dofs, self.model.load_values[0], gravity, applied, k, self.tangent)

    @property
    def code(self) -> Code | None:
        """None before it pays to make it, and where there is none."""
        known: Code | None = vars(self).get("made")
        if known is None:
            known = self.model.chain.code(code, self.pattern, self._loading, soon=self.size > 1000, after=LATER)
            vars(self)["made"] = known
        return known

    def at(self, values: Sequence[Entry]) -> Array:
        """Rows of Q and k Q (2 n, N) at values of all degrees of freedom; with ``tangent`` Q, screws, G and H."""
        made = self.code
        if made is None:
            return self.on_numbers(values)
        return self.by(made, [*straight_line.moved(values), *self.wrenches])

    def by(self, made: Code, rows: Sequence[Entry] | Array) -> Array:
        """The same by the code, from motions and components of wrenches."""
        out = np.empty((made.results, self.size))
        made(out, rows, self.numbers)
        return out

    def on_numbers(self, values: Sequence[Entry]) -> Array:
        model, chain, dofs = self.model, self.model.chain, self.flex.dofs
        state = ChainState(chain, self.size, *chain.run(chain.inputs(values), dofs))
        acting = [(f, r) for load in model.loads for f, r in load.resultants(state, model.gravity)]
        acting += [(w.frame, at_frame(state, w.frame, w.entries, w.follows)) for w in self.applied]
        return en.dense(_results(dofs, state, acting, self.compliance, self.tangent), self.size)


Seen = tuple[tuple[str, int], ...]
"""Frames that are measured, and how many rows of their twist are: 3 or 6."""


def rigid_answer(
    posture: Posture, dofs: tuple[int, ...], seen: Seen, applied: Sequence[AppliedWrenches], workspace: Array
) -> tuple[Array, Array]:
    """Without any bend: motion (n, rows, N) of what is seen per unit of each degree of freedom, and forces (n, N).

    They lie in ``workspace`` (n rows + n, N or more), the same for all chunks: new memory costs as much as filling it.
    """
    chain, size = posture.model.chain, posture.size
    values, many = chain.values(posture.q, posture.offsets), size > 1000
    given = tuple((w.frame, w.follows, tuple(not isinstance(e, float) for e in w.entries)) for w in applied)
    made = chain.code(observed, chain.pattern(values), dofs, seen, given, many, soon=many, after=LATER)
    out = workspace.ravel()[: len(workspace) * size].reshape(len(workspace), size)
    if made is None:
        state = ChainState(chain, size, *chain.run(chain.inputs(values), dofs))
        for row, entry in zip(out, _observed(state, dofs, seen, [_given(w) for w in applied]), strict=True):
            row[:] = entry
    else:
        made(out, [*straight_line.moved(values), *(e for w in applied for e in w.entries if not isinstance(e, float))])
    return out[: -len(dofs)].reshape(len(dofs), -1, size), out[-len(dofs) :]


def _given(w: AppliedWrenches) -> tuple[str, bool, Sequence[Entry]]:
    return w.frame, w.follows, w.entries


def observed(
    chain: Chain,
    moves: straight_line.Pattern,
    dofs: tuple[int, ...],
    seen: Seen,
    applied: tuple[tuple[str, bool, tuple[bool, ...]], ...],
    many: bool,
) -> Code:
    """The same from motions and components of wrenches.

    For ``many`` configurations it is not compiled: memory takes the time, and is written faster in NumPy's long rows.
    """
    tape, inputs = straight_line.symbols(moves)
    names = [f"w{i}" for i in range(sum(sum(there) for _, _, there in applied))]
    known = iter([tape.variable(name) for name in names])
    acting = [(frame, follows, [next(known) if t else 0.0 for t in there]) for frame, follows, there in applied]
    state = ChainState(chain, 1, *chain.run(inputs, dofs))
    rows = [*straight_line.rows(moves), *((name,) for name in names)]
    made = tape.kernel(_observed(state, dofs, seen, acting), rows)
    return replace(made, _fast=None) if many else made


def _observed(
    state: ChainState, dofs: tuple[int, ...], seen: Seen, applied: Sequence[tuple[str, bool, Sequence[Any]]]
) -> list[Any]:
    motions = [zip(*(twist[:rows] for twist in state.twists(frame, dofs)), strict=True) for frame, rows in seen]
    columns = [row for motion in motions for row in motion]
    force: list[Any] = [0.0] * len(dofs)
    for frame, follows, six in applied:
        fx, fy, fz, mx, my, mz = six
        push, moment = (fx, fy, fz), (mx, my, mz)
        if follows:
            turn = state.pose(frame)[0]
            push, moment = en.times_vector(turn, push), en.times_vector(turn, moment)
        for i, (vx, vy, vz, *w) in enumerate(state.twists(frame, dofs)):
            force[i] = en.add(force[i], en.add(en.dot((vx, vy, vz), push), en.dot((w[0], w[1], w[2]), moment)))
    return [*(e for column in zip(*columns, strict=True) for e in column), *force]


def code(chain: Chain, moves: straight_line.Pattern, what: Loading) -> Code | None:
    """The same from motions, components of wrenches and numbers; None where a load does not run on symbols."""
    tape, inputs = straight_line.symbols(moves)
    rows, numbers = straight_line.rows(moves), list[str]()

    def number(there: bool = True) -> Any:
        if not there:
            return 0.0
        numbers.append(f"p{len(numbers)}")
        return tape.variable(numbers[-1])

    def component(there: bool) -> Any:
        if not there:
            return 0.0
        rows.append((f"w{len(rows)}",))
        return tape.variable(rows[-1][0])

    gravity: Any = [number(there) for there in what.gravity]
    state = ChainState(chain, 1, *chain.run(inputs, what.dofs))
    acting: list[tuple[str, Resultant]] = []
    try:
        for load in what.loads:
            acting += load.with_values([number() for _ in load.parameters(chain.tree)]).resultants(state, gravity)
    except TypeError:
        return None
    for frame, follows, given in what.applied:
        acting.append((frame, at_frame(state, frame, [component(t) for t in given], follows)))
    k = [(i, j, number()) for i, j in what.compliance]
    return tape.kernel(_results(what.dofs, state, acting, k, what.tangent), rows, numbers)


def _results(
    dofs: tuple[int, ...],
    state: ChainState,
    acting: Sequence[tuple[str, Resultant]],
    k: Sequence[tuple[int, int, Any]],
    tangent: bool,
) -> list[Any]:
    """Q and k Q; or Q, screws, G and, where it is another, H: by component, then by coordinate."""
    felt = list(_felt(dofs, [(state.chain.level(frame), r) for frame, r in acting]))
    q: list[Any] = []
    for dof, total in zip(dofs, felt, strict=True):
        screw = state.screws[dof]
        assert screw is not None
        force, moment = total.wrench()
        about = force if screw.point is None else en.minus(moment, en.cross(screw.point, force))
        q.append(en.dot(screw.axis, about))
    if not tangent:
        bend: list[Any] = [0.0] * len(q)
        for i, j, c in k:
            bend[i] = en.add(bend[i], en.mul(c, q[j]))
        return [*q, *bend]
    screws = list(state.twists_at(ORIGIN, dofs))
    first, same = 0 if any(r.follows for _, r in acting) else 3, all(r.potential for _, r in acting)
    both = [total.tangents(screw) for total, screw in zip(felt, screws, strict=True)]
    columns = [screws, [g[first:] for g, _ in both], [] if same else [h[first:] for _, h in both]]
    return [*q, *(column[a] for part in columns if part for a in range(len(part[0])) for column in part)]


def _felt(dofs: Sequence[int], placed: Sequence[Placed]) -> Iterator[Resultant]:
    """Sum of the wrenches that each degree of freedom feels; the outermost are added first."""
    order = sorted(placed, key=lambda p: -p[0])
    out: list[Resultant] = []
    total = Resultant()
    for dof in reversed(dofs):
        while order and order[0][0] > dof:
            total = total + order.pop(0)[1]
        out.append(total)
    return reversed(out)
