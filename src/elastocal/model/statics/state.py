"""Where the chain is for given joint values and bends; how batches are cut."""

from __future__ import annotations

from collections.abc import Sequence

from elastocal.errors import InputError
from elastocal.model.chain import ChainState
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics.flexibility import Flexibility
from elastocal.spatial.entries import Array, Entry

CHUNK = 5000
"""Configurations per chunk: enough that numpy's cost per call is small, few enough for some tens of MB, and not a
power of two, whose rows would fall on the same cache lines."""


def chunk_size(n: int) -> int:
    """Fewer configurations per chunk for very many coordinates."""
    return CHUNK if n <= 64 else CHUNK // 4


def check_rows(model: RobotModel, total: int, applied: Sequence[AppliedWrenches]) -> None:
    for w in applied:
        model.tree.frame(w.frame)
        if len(w.wrench) not in (1, total):
            raise InputError(f"{len(w.wrench)} wrenches at {w.frame} for {total} configurations; give one, or one each")


def state_at(model: RobotModel, flex: Flexibility, q: Array, theta: Array) -> tuple[ChainState, list[Entry]]:
    """Chain state with the flexible coordinates at theta (n, N) and all others at their constants."""
    bends: list[Entry] = [float(c) for c in flex.constant]
    for row, dof in enumerate(flex.dofs):
        bends[dof] = theta[row]
    values = model.chain.values(q, bends)
    size = q.shape[1]
    return model.chain.evaluate(values, size, screws=flex.dofs), values


def rest_values(model: RobotModel, q: Array) -> dict[str, Array]:
    """Every joint's value without any load: commanded, plus its offset."""
    row = {name: i for i, name in enumerate(model.joints)}
    out: dict[str, Array] = {}
    for frame in model.tree.frames:
        motion = frame.joint
        if motion is not None:
            leader = motion.follows or frame.name
            value = motion.ratio * q[row[leader]] + motion.offset if motion.follows else q[row[leader]]
            out[frame.name] = value + model.constants[model.chain.joint_dof(frame.name)]
    return out
