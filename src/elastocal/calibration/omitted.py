"""Effects that a calibration left out, and how much the residuals call for each of them: score tests.

Tried are the model words that were not chosen, joint by joint; gears that stiffen (or soften) with their torque; and
compliances that differ from state to state by a share of themselves, as hysteresis makes them.  None needs a fit of its
own.
"""

from __future__ import annotations

from math import inf

import numpy as np

from elastocal.calibration.fit import Fit
from elastocal.calibration.noise import SHARE
from elastocal.calibration.task import Task
from elastocal.calibration.words import with_words
from elastocal.model.robot import Robot
from elastocal.solve.evidence import posterior
from elastocal.solve.nested import ScoreTests, f_test
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

ABSENT = 1e-6
"""Share of a deflection that counts as none."""


@dataclass(frozen=True)
class Effect:
    """An effect of one part of the robot; ``probability`` of so much where it is absent, of all tried together."""

    word: str
    part: str
    probability: float
    size: float
    """Of a share or of stiffening at the largest torque, in parts of the compliance; nan of others."""

    @property
    def text(self) -> str:
        if self.word == "share":
            return f"compliance of {self.part} that differs by {100 * self.size:.0f} % from state to state (hysteresis)"
        if self.word == "stiffening":
            much = f"{100 * abs(self.size):.0f} % at the largest torque"
            return f"{self.part} that grows {'softer' if self.size > 0 else 'stiffer'} under load, by {much}"
        if self.word == "spring":
            return f"a spring that the model lacks at {self.part} (a link or bearing; residuals go with the load)"
        if self.word == "compensator":
            return (
                f"a spring that the model lacks at {self.part}, such as a gravity compensator: stiffer at some angles"
            )
        return f"{self.word} of {self.part}"


def omitted_effects(chosen: Fit, words: tuple[str, ...]) -> tuple[Effect, ...]:
    """What was tried, the most significant first; probabilities are times the number of effects tried."""
    tests, sight = ScoreTests(chosen.posterior), chosen.task.sight
    tried = []
    for (word, part), columns in {**_words(chosen, words), **_stiffening(chosen)}.items():
        scores = tests.of(sight.fold(columns))
        size = float(scores.step[0]) if word == "stiffening" and scores.size else float("nan")
        tried.append(Effect(word, part, scores.probability, size))
    tried += _shares(chosen)
    return tuple(
        sorted(
            (Effect(e.word, e.part, min(1.0, len(tried) * e.probability), e.size) for e in tried),
            key=lambda e: e.probability,
        )
    )


def _words(chosen: Fit, words: tuple[str, ...]) -> dict[tuple[str, str], Array]:
    """Columns (M, rows, a) of the words that were not chosen, by word and part of the robot."""
    task = chosen.task
    wanted: dict[str, tuple[str, str]] = {}
    robot = chosen.robot
    for word in words:
        robot, groups = with_words(robot, (word,))
        new = [n for g in groups for n in g.names if n not in task.names]
        wanted |= {n: (word, n.rpartition(".")[0]) for n in new}
    if not wanted:
        return {}
    slope = columns_of(chosen, robot, tuple(wanted))
    out: dict[tuple[str, str], list[int]] = {}
    for i, key in enumerate(wanted.values()):
        out.setdefault(key, []).append(i)
    return {key: slope[:, :, rows] for key, rows in out.items()}


def columns_of(chosen: Fit, robot: Robot, names: tuple[str, ...]) -> Array:
    """Slopes (M, rows, len) by parameters of a robot that has more of them than the fit."""
    task = chosen.task
    more = Task(task.sight, robot, (), task.family, task.dropped, task.instrument)
    values = np.array([robot.parameters.values[robot.parameters.index(n)] for n in names])
    slope = more.sight.linearise(task.sight.tool(robot, names), values, chosen.placing)[1][:, :, : len(names)]
    return np.asarray(np.where(np.isfinite(slope), slope, 0.0))


def deflections_of(chosen: Fit) -> dict[str, Array]:
    """What is read (M, rows) of the deflection by each joint whose compliance is sought."""
    task, p, s = chosen.task, len(chosen.task.names), chosen.task.sight.states
    by_state = chosen.posterior.blocks.jacobian[:, :, :p].reshape(s.poses, s.slots, task.sight.rows, p)
    jacobian = by_state[s.pose, s.slot]
    parts = {joint: task.shares.get(f"{SHARE} {joint}") for joint in task.robot.joints}
    return {joint: (jacobian @ part)[:, :, 0] for joint, part in parts.items() if part is not None}


def _stiffening(chosen: Fit) -> dict[tuple[str, str], Array]:
    """Columns (M, rows, 1): the deflection by a joint times its torque, of the largest of the campaign."""
    moves, out = chosen.task.sight.joint_moves(chosen.task.robot, chosen.placing), {}
    for joint, bent in deflections_of(chosen).items():
        arm = moves[:, :, chosen.task.robot.joints.index(joint)]
        turn = np.abs(np.sum(bent * arm, axis=1)) / np.maximum(np.sum(arm**2, axis=1), 1e-12)
        if turn.max() > 0:
            out["stiffening", joint] = (bent * (turn / turn.max())[:, None])[:, :, None]
    return out


def _shares(chosen: Fit) -> list[Effect]:
    """Compliances that are no constants, by the evidence that this adds: the part that it changes most is named."""
    post = chosen.posterior
    first = len(post.blocks.groups)
    mine = [i for i, part in enumerate(post.blocks.noise) if part.scale.pool == SHARE]
    if not mine:
        return []
    none = post.log_scales.copy()
    none[[first + i for i in mine]] = np.log(ABSENT)
    gain = max(0.0, 2 * (post.evidence - posterior(post.blocks, none).evidence))
    sizes = np.exp(post.log_scales[[first + i for i in mine]])
    adds = [size**2 * np.sum(post.blocks.noise[i].factor ** 2) for i, size in zip(mine, sizes.tolist(), strict=True)]
    most = int(np.argmax(adds))
    name = post.blocks.noise[mine[most]].scale.name.removeprefix(f"{SHARE} ").replace("_", " ")
    return [Effect("share", name, f_test(gain, 2, inf).probability, float(sizes[most]))]
