"""Where the chain is for given joint values and bends; how batches are cut."""

from __future__ import annotations

from collections.abc import Sequence

from elastocal.errors import InputError
from elastocal.model.chain import ChainState
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
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


def state_at(flex: Flexibility, at: Posture, theta: Array) -> tuple[ChainState, list[Entry]]:
    """Chain state with the flexible coordinates at theta (n, N) and all others as they are without load."""
    bends, chain = list(at.offsets), at.model.chain
    for row, dof in enumerate(flex.dofs):
        bends[dof] = theta[row]
    values = chain.values(at.q, bends)
    return chain.evaluate(values, at.size, screws=flex.dofs), values


def rest_values(at: Posture) -> dict[str, Array]:
    """Every joint's value without any load: commanded, plus its offset."""
    chain = at.model.chain
    return {chain.dofs[i].frame: at.value(chain.dofs[i].frame) + at.offsets[i] for i in at.model.joint_dofs}
