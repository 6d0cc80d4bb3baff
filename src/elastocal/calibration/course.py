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
from itertools import combinations
from typing import Any

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.exchanged import BY_MARKER, markers_word, measured_order, rows_from
from elastocal.calibration.fit import Fit, distances
from elastocal.calibration.moved import marker_word, station_word
from elastocal.calibration.placing import Placing
from elastocal.calibration.sight import Sight
from elastocal.calibration.states import States
from elastocal.findings import Finding, warning
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.quantities import probability
from elastocal.solve.evidence import Posterior, posterior
from elastocal.solve.nested import Score, ScoreTests
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

LEVEL = 0.01
"""Probability of an alarm where nothing has changed, at most: neighbouring rows are tried as if each were alone."""
LEAST = 4
"""Rows on either side of a change, and states left out as outliers that one is to explain: fewer may be off together.
"""
SPLITS = 48
"""Rows tried for a change; about the best of them all."""
SAME = 0.9
"""Correlation beyond which an order of joint values is that of the rows: nothing tells the two apart."""
EXPLAINED = 3.0
"""Standard deviations (rms) that a state left out as an outlier may be off when its cause is taken in."""
ALIKE = 2.0
"""An exchange leaves no more than this times what targets that may be anywhere leave."""
PLAIN = 5.0
"""Standard deviations of a significant step."""
STEPS = ("moved", "targets")
TRENDS = {
    "drift": "the instrument or the base drifts",
    "joints": "zeros of joints drift, as they do while gears warm up",
    "growth": "the arm grows or shrinks, as it does while it warms up",
}


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


def changes(chosen: Fit, campaign: Campaign) -> tuple[Finding, ...]:
    """The change that explains most, as a warning; none where all may be chance."""
    sight, dropped = chosen.task.sight, chosen.task.dropped & chosen.task.sight.used
    if not sight.placed or campaign.count < 2 * LEAST:
        return ()
    back = _one_sided(sight.states, np.any(dropped, axis=1), campaign)
    for last in (False, True):  # without what the first does not explain
        if len(back) < LEAST:
            break
        used = sight.used & ~(dropped & ~np.isin(sight.states.pose, back)[:, None])
        blocks = replace(chosen.posterior.blocks, used=sight.fold(used))
        course = _of_fit(chosen, campaign, posterior(blocks, chosen.posterior.log_scales))
        found = course.best(STEPS)
        mended = np.zeros(len(back), dtype=bool) if found is None else course.explains(found, back)
        back = back[mended]
        if found is not None and len(back) >= LEAST and (last or mended.all()):
            return (course.finding(found, back),)
    course = _of_fit(chosen, campaign, chosen.posterior)
    found = course.best((*STEPS, *TRENDS))
    return () if found is None else (course.finding(found, np.zeros(0, dtype=np.int64)),)


def _of_fit(chosen: Fit, campaign: Campaign, post: Posterior) -> Course:
    task, s = chosen.task, chosen.task.sight.states
    slopes = chosen.posterior.blocks.jacobian.reshape(s.poses, s.slots, task.sight.rows, -1)[s.pose, s.slot]
    return Course(task.sight, task.robot, chosen.placing, slopes[:, :, len(task.names) :], campaign, ScoreTests(post))


def _one_sided(states: States, gone: Bools, campaign: Campaign) -> Ints:
    """Poses of states (M,) that are left out, on that side of a row where they are most frequent."""
    order = measured_order(campaign)
    left = gone[states.state_of(campaign.count)[order]]
    before, places = np.cumsum(left)[:-1], np.arange(1, len(left))
    excess = (left.sum() - before) / (len(left) - places) - before / places
    place = int(places[np.argmax(np.abs(excess))])
    side = order[place:] if excess[place - 1] > 0 else order[:place]
    mine = states.state_of(campaign.count)[side]
    return np.unique(states.pose[mine[gone[mine]]])


def renumbered(found: Finding, rows: Ints) -> Finding:
    """A change of a campaign of some ``rows``, told by those of the whole; other findings stay."""
    if "outliers" not in found.data:
        return found
    data = {**found.data, "outliers": rows[found.data["outliers"]].tolist()}
    return replace(found, data=data | ({"row": int(rows[data["row"]])} if "row" in data else {}))


@dataclass(frozen=True, eq=False)
class Course:
    """Tests of a model that was fitted to the states of a campaign, with ``slopes`` (M, rows, extra) by stations and
    markers.  What is found is accepted by words, where ``words`` are taken."""

    sight: Sight
    robot: Robot
    placing: Placing
    slopes: Array
    campaign: Campaign
    tests: ScoreTests
    words: bool = True

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
        """The least probable change, which leaves least, if it is significant and no matter of poses.

        Half of the level is for steps, half for trends."""
        tried = [c for kind in kinds for c in self._tried(kind)]
        made = {step: 2 * sum(c.tests for c in tried if c.is_step == step) for step in (True, False)}
        tried = [replace(c, tests=made[c.is_step]) for c in tried]
        best = min(tried, key=lambda c: (c.probability, c.score.noise), default=None)
        return None if best is None or best.probability >= LEVEL else self._beside_poses(best)

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

    def explains(self, change: Change, poses: Ints) -> Bools:
        """Which of the poses are no outliers with the change taken in."""
        columns = self.sight.fold(change.columns * change.weight[:, None, None])
        off, used = self.tests.left_after(columns, change.score.step), self.tests.post.blocks.used
        square = np.sum(np.where(used, off, 0.0) ** 2, axis=1) / np.maximum(used.sum(axis=1), 1)
        return np.asarray(square[poses] < EXPLAINED**2)

    def finding(self, change: Change, mended: Ints) -> Finding:
        """``mended`` are poses that were left out, and need not be."""
        s, order = self.sight.states, "time" if self.campaign.time is not None else "rows"
        rows = sorted(r for i in np.flatnonzero(np.isin(s.pose, mended)) for r in s.members[int(i)].tolist())
        data: dict[str, Any] = {"probability": change.probability, "level": LEVEL, "order": order, "outliers": rows}
        told = "in the order of their time" if order == "time" else "if rows stand in the order of measuring"
        chance = f"probability {probability(change.probability)}, level {LEVEL:g}; {told}"
        if change.joint:
            data["joint"] = change.joint
            chance += f", which is that of {change.joint} too, so that an effect of it may look the same"
        if not change.is_step:
            return self._drift(change, data, chance)
        last, place = self.campaign.line(change.last), self.campaign.line(change.row)
        data |= {"row": change.row, "place": place, "last": last}
        make = self._moved if change.kind == "moved" else self._targets
        return make(change, data, chance)

    def _moved(self, change: Change, data: dict[str, Any], chance: str) -> Finding:
        step, s = change.score.step, self.sight.states
        name, turn = s.stations[change.station], float(np.linalg.norm(step[3:]))
        if s.position is not None:
            moves = change.moves[s.station == change.station, self.sight.sections["position"]]
            step = moves.reshape(-1, 3).mean(axis=0)
        shift = float(np.linalg.norm(step[:3]))
        word = station_word(data["place"])
        text = (
            f"the instrument or the base was moved between {data['last']} and {data['place']}: points are "
            f"{1e3 * shift:.3f} mm and {1e3 * turn:.3f} mrad elsewhere from there on ({chance}); "
            f"{self._mend('give these rows a station of their own', [word])}"
        )
        return warning("moved", text, station=name, shift=shift, turn=turn, **self._worded([word]), **data)

    def _mend(self, does: str, words: list[str]) -> str:
        return f"accept it by these words, which {does}: {', '.join(words)}" if self.words else does

    def _worded(self, words: list[str]) -> dict[str, Any]:
        return {"words": words} if self.words else {}

    def _targets(self, change: Change, data: dict[str, Any], chance: str) -> Finding:
        names, place = self.campaign.markers, data["place"]
        pair = self._exchanged(change)
        if pair is not None:
            one, other = (names[i] for i in pair)
            word = markers_word(one, other, rows_from(place))
            text = (
                f"markers {one} and {other} are exchanged from {place} on ({chance}); "
                f"{self._mend('exchange them back', [word])}"
            )
            return warning("exchanged", text, markers=[one, other], **self._worded([word]), **data)
        step, sd = (v.reshape(-1, 3) for v in (change.score.step, change.score.sd))
        size = np.linalg.norm(step, axis=1)
        plain = [i for i in range(len(size)) if np.any(np.abs(step[i]) > PLAIN * sd[i])] or [int(np.argmax(size))]
        words = [marker_word(names[i], place) for i in plain]
        which = ", ".join(f"{names[i]} by {1e3 * size[i]:.3f} mm" for i in plain)
        text = (
            f"markers sit elsewhere on the tool from {place} on: {which} ({chance}); "
            f"{self._mend('make them markers of their own', words)}"
        )
        moved = {names[i]: float(size[i]) for i in plain}
        return warning("marker-moved", text, markers=moved, **self._worded(words), **data)

    def _exchanged(self, change: Change) -> tuple[int, int] | None:
        """Two markers that explain as much by having been read as each other."""
        sight, blocks = self.sight, self.tests.post.blocks
        left = self.tests.left @ self.tests.left - change.score.chi2
        for pair in combinations(range(sight.states.points), 2):
            order = np.arange(sight.states.points)
            order[list(pair)] = pair[::-1]
            extra = np.zeros((sight.states.count, sight.rows))
            for key in BY_MARKER:
                if key in sight.sections:
                    read = getattr(sight.states, key)
                    extra[:, sight.sections[key]] = (read[:, order] - read).reshape(len(read), -1)
            extra = np.nan_to_num(extra) * change.weight[:, None]
            post = posterior(replace(blocks, readings=blocks.readings + sight.fold(extra)), self.tests.post.log_scales)
            if blocks.power * float(np.sum(post.white**2)) < ALIKE * left:
                return pair
        return None

    def _drift(self, change: Change, data: dict[str, Any], chance: str) -> Finding:
        sight = self.sight
        size = float(np.nanmax(distances(sight, change.moves)))
        text = (
            f"{TRENDS[change.kind]}: by up to {1e3 * size:.3f} m{sight.unit} from first row to last ({chance}); "
            "measure again when all is warm, or name stations for parts of the campaign; poses that are read again at "
            "the end show what is left of it"
        )
        return warning("drift", text, source="instrument" if change.kind == "drift" else change.kind, size=size, **data)
