"""What changed in the course of a campaign: the instrument or a target was moved, targets were exchanged, or something
drifts.

The model that was chosen is tested for unknowns that it leaves out, by score tests (``solve.nested``).  With f_i(k) the
share of the readings of state i from row k on, t_i from 0 at the first row to 1 at the last, J_s the slopes of its
numbers by the six unknowns of its station, J_m by the places of all markers, A by joints and by the growth of links,

    y_i = J_i theta + f_i(k) J_s d    instrument moved at row k         + t_i J_s d    instrument or base drifts
                    + f_i(k) J_m d    targets moved at row k            + t_i A d      the arm drifts, as it warms up

The probability is that of all these tests together.  A fit that leaves something out of the robot has residuals that
depend on the pose, and rows are rarely measured in an order that does not: a change must explain more than the same
change by the order of any joint value.  Nothing but this looks at the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.placing import Placing
from elastocal.calibration.row_slips import measured_order
from elastocal.calibration.sight import Sight
from elastocal.distributions import chdtri
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.solve.nested import INDEPENDENT, Score, ScoreTests
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

LEVEL = 0.01
"""Probability of an alarm where nothing has changed, at most: neighbouring rows are tried as if each were alone."""
LEAST = 4
"""Rows on either side of a change, and poses left out as outliers that one is to explain: fewer may be off together."""
SPLITS = 48
"""Rows tried for a change; about the best of them all."""
SAME = 0.9
"""Correlation beyond which an order of joint values is that of the rows: nothing tells the two apart."""
STEPS = ("moved", "targets")
TRENDS = ("drift", "joints", "growth")


@dataclass(frozen=True, eq=False)
class Change:
    """Columns (M, rows, a) that a fit leaves out, times a ``weight`` (M,) by the order of rows; a step is at ``row``.

    ``tests`` were made, which the probability is times of."""

    kind: str
    columns: Array
    weight: Array
    tests: int
    score: Score
    row: int = -1
    last: int = -1
    """The row before it."""
    station: int = 0
    joint: str = ""
    """By whose values the rows are in order."""
    alike: tuple[str, ...] = ()
    """Other kinds that explain the readings as well."""

    @property
    def is_step(self) -> bool:
        return self.row >= 0

    @property
    def probability(self) -> float:
        return min(1.0, self.tests * self.score.probability)

    @property
    def moves(self) -> Array:
        """How far (M, rows) it moves what is read, where its weight is one."""
        return np.asarray(self.columns @ self.score.step)


@dataclass(frozen=True, eq=False)
class Course:
    """Tests of a model that was fitted to the states of a campaign, with ``slopes`` (M, rows, extra) by stations and
    markers."""

    sight: Sight
    robot: Robot
    placing: Placing
    slopes: Array
    campaign: Campaign
    tests: ScoreTests

    @cached_property
    def order(self) -> Ints:
        return measured_order(self.campaign)

    @cached_property
    def when(self) -> Array:
        """0 to 1 (N,) of every row."""
        c = self.campaign
        at = np.argsort(self.order).astype(float) if c.time is None else c.time - c.time.min()
        return np.asarray(at / max(float(at.max()), 1e-300))

    def best(self, kinds: tuple[str, ...]) -> Change | None:
        """The least probable change, which leaves least, if it is significant and no matter of poses; of those that
        explain as much within chance the first of the kinds.

        Half of the level is for steps, half for trends."""
        tried = [c for kind in kinds for c in self._tried(kind)]
        made = {step: 2 * sum(c.tests for c in tried if c.is_step == step) for step in (True, False)}
        tried = [replace(c, tests=made[c.is_step]) for c in tried]
        of_kind = ([c for c in tried if c.kind == kind] for kind in kinds)
        leading = [min(same, key=_improbable) for same in of_kind if same]
        best = min(leading, key=_improbable, default=None)
        judged = None if best is None or best.probability >= LEVEL else self._beside_poses(best)
        if judged is None:
            return None
        first, *others = (c for c in leading if _as_good(c, judged))
        return replace(first, joint=judged.joint, alike=tuple(c.kind for c in others))

    def _tried(self, kind: str) -> Iterator[Change]:
        s = self.sight.states
        if kind == "targets":
            first = 6 * len(s.stations)
            yield from self._step(kind, self.slopes[:, :, first : first + 3 * s.points], self.order)
        elif kind == "joints":
            yield self._trend(kind, self.sight.joint_moves(self.robot, self.placing))
        elif kind == "growth":
            yield self._trend(kind, self._growth())
        for number in range(len(s.stations)) if kind in ("moved", "drift") else ():
            columns = self.slopes[:, :, 6 * number : 6 * number + 6]
            if kind == "drift":
                yield self._trend(kind, columns, number)
            else:
                yield from self._step(kind, columns, self.order[self._station[self.order] == number], number)

    @cached_property
    def _station(self) -> Ints:
        """Of every row (N,), as the states number them."""
        s = self.sight.states
        return np.asarray(s.station[s.state_of(self.campaign.count)])

    def _step(self, kind: str, columns: Array, order: Ints, station: int = 0) -> Iterator[Change]:
        """Of the row from which on it explains most."""
        places = np.arange(LEAST, len(order) - LEAST + 1)
        if not len(places):
            return
        coarse = places[np.unique(np.linspace(0, len(places) - 1, SPLITS).astype(np.int64))]
        best = int(coarse[np.argmax(self._gains(columns, self._shares(order, coarse)))])
        gap = int(np.diff(coarse).max(initial=1))
        if gap > 1:
            fine = places[np.abs(places - best) < gap]
            best = int(fine[np.argmax(self._gains(columns, self._shares(order, fine)))])
        weight = self._shares(order, np.array([best]))[:, 0]
        score = self._score(columns, weight)
        yield Change(kind, columns, weight, len(places), score, int(order[best]), int(order[best - 1]), station)

    def _trend(self, kind: str, columns: Array, station: int = 0) -> Change:
        members = self.sight.states.members
        weight = members.sums(self.when) / members.counts
        return Change(kind, columns, weight, 1, self._score(columns, weight), station=station)

    def _score(self, columns: Array, weight: Array) -> Score:
        return self.tests.of(self.sight.fold(columns * weight[:, None, None]))

    def _gains(self, columns: Array, weights: Array) -> Array:
        """dS (K,) by columns (M, rows, a) times each of the weights (M, K)."""
        return self.tests.chi2(self.sight.fold(columns[:, :, None] * weights[:, None, :, None]))

    def _shares(self, order: Ints, places: Ints) -> Array:
        """(M, K) of the readings of every state, those from each of the places in the order on."""
        s = self.sight.states
        later = np.zeros((self.campaign.count, len(places)))
        later[order] = np.arange(len(order))[:, None] >= places
        return s.members.sums(later) / s.members.counts[:, None]

    def _growth(self) -> Array:
        """Slopes (M, rows, 1 + n) by the growth of all of the arm, and of what is beyond every axis.

        Of the tool's twist [v; w] by a joint, v x w is the way from its axis to the tool."""
        arm = kinematics(self.robot.nominal, self.sight.states.q)
        beyond = np.cross(arm.jacobian[:, :3], arm.jacobian[:, 3:], axis=1)
        along = np.concatenate([arm.position[:, :, None], beyond], axis=2)
        twists = np.concatenate([along, np.zeros_like(along)], axis=1)
        return self.sight.tool_moves(self.robot, self.placing, twists)

    def _beside_poses(self, change: Change) -> Change | None:
        """None where the same columns by the order of a joint value explain as much; where that is the order of the
        rows too, nothing tells them apart, and the joint is named."""
        q, joint = self.sight.states.q, ""
        places = np.unique(np.linspace(1, len(q) - 1, SPLITS).astype(np.int64))
        for name, values in zip(self.robot.joints, q.T, strict=True):
            if not np.ptp(values):
                continue
            rank = np.argsort(np.argsort(values, kind="stable")).astype(float)
            weights = (rank[:, None] >= places).astype(float) if change.is_step else rank[:, None]
            same = np.array([abs(np.corrcoef(w, change.weight)[0, 1]) > SAME for w in weights.T])
            joint = name if same.any() else joint
            if not same.all() and self._gains(change.columns, weights[:, ~same]).max() >= change.score.chi2:
                return None
        return replace(change, joint=joint)

    def left_after(self, change: Change) -> Array:
        """Whitened residuals (poses, rows) of a fit that has taken the change in."""
        columns = self.sight.fold(change.columns * change.weight[:, None, None])
        return self.tests.left_after(columns, change.score.step)

    def sd_after(self, change: Change) -> Array:
        """Of its step, by what the fit leaves that has taken it in: where it explains nearly all, the fall of the sum
        of squares does not tell the noise, since priors have their share in it."""
        left = self.left_after(change)[self.tests.post.blocks.used]
        freedom = max(1.0, self.tests.freedom - change.score.size)
        noise = float(np.sqrt(self.tests.post.blocks.power * np.sum(left**2) / freedom))
        return np.asarray(change.score.sd * max(1.0, noise / change.score.noise))


def _improbable(change: Change) -> tuple[float, float]:
    return change.probability, change.score.noise


def _as_good(one: Change, best: Change) -> bool:
    """Whether it explains as much as the best but for chance: an arm that never turns its tool moves a marker on it as
    a shift of the instrument does."""
    chance = best.score.noise**2 * chdtri(max(one.score.size, best.score.size), LEVEL)
    less = best.score.chi2 - one.score.chi2
    as_much = less <= max(chance, INDEPENDENT * best.score.chi2)
    return one.is_step == best.is_step and one.probability < LEVEL and as_much
