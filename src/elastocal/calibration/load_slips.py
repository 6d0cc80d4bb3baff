"""Slips of loads: forces with the other sign, or in the axes of the tool.

No compliance is negative, so that an arm goes the way its loads push it.  With d what points moved under the load, or
what the rigid robot leaves of them where places were read, and p = J k J^T W by compliances k of the robot's size,

    c = sum p.d / sqrt(sum |p|^2 sum |d|^2)                                                               (agreement)

is near one where the loads are right, whatever the factor of k, and near minus one where they were written as those of
the robot on its surroundings.  Of places the rigid robot also leaves what the arm's own weight does, which looks like a
load that hangs on it: what weights of any size at its links would do is taken out of both.
"""

from __future__ import annotations

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.placing import placed
from elastocal.calibration.sight import Sight
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import gather
from elastocal.errors import InputError
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array

AGREES, NOT, AGAINST = 0.6, 0.3, -0.5
"""Agreement that shows a slip once it is undone; that with the loads as written, below which they are in doubt in tool
axes, and below which they are reversed."""
FEW = 12
"""Loaded rows below which chance may bring any agreement."""
ALIKE = 0.9
"""A slip with this share of the agreement of the best is not told from it: a tool that always points down, say."""
REVERSED, OF_TOOL = "loads reversed", "loads in tool axes"


def undone(robot: Robot, campaign: Campaign, word: str) -> Campaign | None:
    """The campaign without the slip; None where it is no such word, or nothing is loaded."""
    if campaign.wrench is None or word not in (REVERSED, OF_TOOL):
        return None
    if word == REVERSED:
        return campaign.changed(wrench=-campaign.wrench)
    turn = kinematics(robot.nominal, campaign.joint_values(robot), campaign.load_frame or robot.tool).rotation
    return campaign.changed(wrench=np.einsum("nij,nkj->nki", turn, campaign.wrench.reshape(-1, 2, 3)).reshape(-1, 6))


def check_loads(robot: Robot, campaign: Campaign) -> None:
    """Refuse loads that push the arm the other way, or any way where the same numbers in tool axes agree with it."""
    if not campaign.loaded or int(np.any(campaign.wrench != 0, axis=1).sum()) < FEW:
        return
    moved = _moved(robot, campaign)
    if moved is None:
        return
    now = _agreement(robot, campaign, moved)
    if now > NOT:
        return
    slips = {word: undone(robot, campaign, word) for word in (REVERSED, OF_TOOL)}
    agree = {word: _agreement(robot, made, moved) for word, made in slips.items() if made is not None}
    best = max(agree.values())
    if best < AGREES or (now > AGAINST and agree[OF_TOOL] < best):
        return
    word, *others = [w for w, c in agree.items() if c >= ALIKE * best]
    alike = f" (or {', '.join(others)})" if others else ""
    raise InputError(
        f"the arm does not go where the loads push it (agreement {now:.2f}, with {word} {agree[word]:.2f}{alike}): "
        f"give what acts on the robot, in base axes; mend the table, or accept it by the words {word}",
        code="slip", value=word, parameter="accept", allowed=(word, *others),
    )  # fmt: skip


def _moved(robot: Robot, campaign: Campaign) -> Array | None:
    """Mean over markers (N, 3) of what was read to move, or of what the rigid robot leaves, in base axes."""
    if campaign.deflection is not None:
        return _mean(campaign.deflection)
    if campaign.position is None or not campaign.loaded:
        return None
    sight = Sight(gather(robot, campaign))
    placing, s = start_placing(robot, sight), sight.states
    at = sight.tool(robot.nominal, ()).states(np.zeros(0))
    assert s.position is not None
    off = _mean(s.position - placed(placing, at.origin, at.turn, s.station))
    turned = np.einsum("nji,nj->ni", placing.turn[s.station], off)
    return np.asarray(turned[s.state_of(campaign.count)])


def _mean(moved: Array) -> Array:
    known = np.isfinite(moved).all(axis=2, keepdims=True)
    count = known.sum(axis=1)
    return np.where(count > 0, np.where(known, moved, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def _agreement(robot: Robot, campaign: Campaign, moved: Array) -> float:
    """``agreement`` over the loaded rows that were read; 0 without any."""
    assert campaign.wrench is not None
    q, read = campaign.joint_values(robot), np.isfinite(moved).all(axis=1)
    p, d = _bent(robot, q, campaign.wrench, campaign.load_frame or robot.tool)[read], moved[read]
    if campaign.deflection is None:
        down = np.concatenate([robot.gravity, np.zeros(3)])
        weights = np.stack([_bent(robot, q, down, f)[read].ravel() for f in robot.joints], axis=1)
        taken = weights @ np.linalg.lstsq(weights, np.stack([p.ravel(), d.ravel()], axis=1), rcond=1e-9)[0]
        p, d = p - taken[:, 0].reshape(p.shape), d - taken[:, 1].reshape(d.shape)
    on = np.any(campaign.wrench[read] != 0, axis=1)
    size = np.sqrt(np.sum(p[on] ** 2) * np.sum(d[on] ** 2))
    return float(np.sum(p[on] * d[on]) / size) if size > 0 else 0.0


def _bent(robot: Robot, q: Array, wrench: Array, frame: str) -> Array:
    """p (N, 3) of the tool by gears of the robot's size, under wrenches at a frame."""
    arm = robot.nominal.with_joint_compliance()
    stated = {p.name: p.value for p in arm.parameters}
    k = np.array([stated.get(f"{j}.k", 0.0) for j in robot.joints])  # some may not move the tool
    felt, tool = (kinematics(robot.nominal, q, f).jacobian for f in (frame, robot.tool))
    torque = np.einsum("nkj,nk->nj", felt, np.broadcast_to(wrench, (len(q), 6)))
    return np.asarray(np.einsum("nij,j,nj->ni", tool[:, :3], k, torque))
