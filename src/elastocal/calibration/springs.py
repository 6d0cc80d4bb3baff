"""Springs that a model lacks: links that bend and bearings that tilt, of which the robot file and the model words say
nothing, by what the residuals of a loaded campaign are with the load.

A frame that gives way under the wrench Q at it, by k diagonal but for the two that tie the shift of a beam to its turn
(``LinkCompliance``), moves what is read by columns A k: a score test of each frame says whether the residuals go with
them (``solve.nested``).  k is not negative, so that a frame which would have to push back is none.  A gravity
compensator that the file lacks makes its joint stiffer at some angles than at others: its columns are the deflection by
the joint's gear times cos q and sin q.  Where a model lacks a spring, loads that grow in the course of a campaign look
like a drift, and what it leaves of every deflection like hysteresis: so it is looked at before these are named.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.calibration.fit import Fit
from elastocal.calibration.omitted import Effect, columns_of, deflections_of
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.robot import Robot
from elastocal.results import Finding
from elastocal.solve.blocks import Group, Scale
from elastocal.solve.evidence import posterior
from elastocal.solve.nested import ScoreTests
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

SPRING, COMPENSATOR = "spring", "compensator"
MOST = 1e-3
"""Prior sd in m of what one entry moves the readings by (rms), where springs stand beside another cause."""


@dataclass(frozen=True, eq=False)
class Springs:
    """Of a fit; nothing is computed before it is asked for, and without a load there is none."""

    chosen: Fit

    @cached_property
    def best(self) -> Effect | None:
        """What the residuals call for most, its probability times the number of springs tried."""
        tests, made = ScoreTests(self.chosen.posterior), []
        for (word, part), (own, columns) in self._tried.items():
            score = tests.of(self.chosen.task.sight.fold(columns))
            sure = np.nan_to_num(score.step[own] / score.sd[own])
            if score.size and (word == COMPENSATOR or (len(own) and sure[np.argmax(np.abs(sure))] > 0)):
                made.append(Effect(word, part, score.probability, float("nan")))
        best = min(made, key=lambda e: e.probability, default=None)
        return best and replace(best, probability=min(1.0, len(self._tried) * best.probability))

    def before(self, changed: tuple[Finding, ...], level: float) -> Fit | None:
        """The fit with springs beside its unknowns, where they explain more than the change in the course does."""
        if not changed or self.best is None:
            return None
        if self.best.probability > min(level, *(f.data["probability"] for f in changed)):
            return None
        post = self.chosen.posterior
        added = self.chosen.task.sight.fold(np.concatenate([c for _, c in self._tried.values()], axis=2))
        size = np.sqrt(np.mean(added[post.blocks.used] ** 2, axis=0))
        first, groups = post.blocks.shape[2], post.blocks.groups
        new = Group(Scale("springs", 1.0, 0.0), first + np.arange(len(size)), precision=np.diag((size / MOST) ** 2))
        jacobian = np.concatenate([post.blocks.jacobian, added], axis=2)
        blocks = replace(post.blocks, jacobian=jacobian, groups=(*groups, new))
        return replace(self.chosen, posterior=posterior(blocks, np.insert(post.log_scales, len(groups), 0.0)))

    @cached_property
    def _tried(self) -> dict[tuple[str, str], tuple[list[int], Array]]:
        """Columns (M, rows, a) by kind and part, with those of them that no spring has below zero."""
        return {**self._frames(), **self._compensators()} if self.chosen.task.sight.states.loaded.any() else {}

    def _frames(self) -> dict[tuple[str, str], tuple[list[int], Array]]:
        robot = _sprung(self.chosen.robot)
        names = _zero(robot, self.chosen.task.names)
        slopes = columns_of(self.chosen, robot, tuple(names))
        out: dict[str, list[int]] = {}
        for i in np.flatnonzero(np.any(slopes, axis=(0, 1))).tolist():
            out.setdefault(names[i].rpartition(".")[0], []).append(i)
        return {
            (SPRING, frame): ([k for k, i in enumerate(mine) if names[i][-1] == names[i][-2]], slopes[:, :, mine])
            for frame, mine in out.items()
        }

    def _compensators(self) -> dict[tuple[str, str], tuple[list[int], Array]]:
        robot, q = self.chosen.robot, self.chosen.task.sight.states.q
        have = {e.joint for e in robot.elements if isinstance(e, GravityCompensator)}
        return {
            (COMPENSATOR, joint): ([], bent[:, :, None] * np.stack([np.cos(a), np.sin(a)], axis=1)[:, None, :])
            for joint, bent in deflections_of(self.chosen).items()
            for a in [q[:, robot.joints.index(joint)]]
            if joint not in have and joint in robot.revolute_joints
        }


def _sprung(robot: Robot) -> Robot:
    """With a spring of no effect at every joint that has none."""
    have = {e.frame for e in robot.elements if isinstance(e, LinkCompliance)}
    none = as_matrix6(np.zeros((6, 6)))
    joints = (j for j in robot.joints if j not in have)
    return robot.with_elements(*(LinkCompliance(frame=j, matrix=none, form="beam") for j in joints))


def _zero(robot: Robot, sought: tuple[str, ...]) -> list[str]:
    """Entries of springs that are rigid in the model; those about the axis of a joint are its gear's."""
    gears = {f"{j}.k{n}{n}" for j in robot.joints for n in (1 + _own(robot, j),)}
    rows = (p for p in robot.parameters if p.kind == "link_compliance" and not p.value)
    return [p.name for p in rows if p.name not in sought and p.name not in gears]


def _own(robot: Robot, joint: str) -> int:
    """The coordinate that a joint moves by itself, 0 to 5."""
    motion = robot.tree.joint(joint)
    return int(np.argmax(np.abs(motion.unit_axis))) + 3 * (motion.kind == "revolute")
