"""Slips of loads: forces with the other sign, in the axes of the tool, or in another unit; deflections in turned axes.

No compliance is negative, so that an arm goes the way its loads push it.  With d what points moved under the
load, or what the rigid robot leaves of them where places were read, and p = J k J^T W by compliances k of the robot's
size,

    c = sum p.d / sqrt(sum |p|^2 sum |d|^2)                                                           (agreement)

is near one where the loads are right, whatever the factor of k, and near minus one where they were written as those of
the robot on its surroundings.  Of places the rigid robot also leaves what the arm's own weight does, which looks like a
load that hangs on it: what weights of any size at its links would do is taken out of both.

Where the arm goes the way of its loads, how far it goes is compared with p by the compliances that it has: the factor

    s = sum p.d / sum |p|^2                                                                                  (softer)

is one for right compliances.  Those of a file are right within some ten per cent, each within a factor of two at most,
and those by the size of an arm within a factor of ten: an s beyond that and near the quotient of two units is a slip.

Deflections in the axes of an instrument that stands turned to the base are p turned, by the same R in all rows:

    max over R of sum (R p).d,    R nearest to sum d p^T                                                      (turned)

and turned back, R^T d, they leave far less beside what joints of any compliances do than as they are:

    min over c >= 0 of sum |d - sum_j c_j p_j|^2                                                         (by joints)

Compliances that are off turn d too, the one way here and the other way there; at poses that are alike, all one way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.placing import placed
from elastocal.calibration.sight import Sight
from elastocal.calibration.starts import start_placing
from elastocal.calibration.states import gather
from elastocal.calibration.words import assumed_gears
from elastocal.errors import InputError, MissingError, RangeError
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import linear_deflection
from elastocal.results import Finding
from elastocal.spatial.entries import Array
from elastocal.spatial.rotation import nearest_rotation, rotation_vector

AGREES, NOT, AGAINST = 0.6, 0.3, -0.5
"""Agreement that shows a slip once it is undone; that with the loads as written, below which they are in doubt in tool
axes, and below which they are reversed."""
FEW = 12
"""Loaded rows below which chance may bring any agreement."""
NEARLY = 0.9
"""A slip with this share of the agreement of the best is not told from it: a tool that always points down, say."""
REVERSED, OF_TOOL, AS_THEY_ARE = "loads reversed", "loads in tool axes", "loads as they are"
LOAD_UNITS = {1e3: "kN", 9.80665: "kgf", 1 / 9.80665: "", 1e-3: ""}
"""What loads must be multiplied by, and the unit that they are in then, where it is a usual one."""
LENGTH_UNITS = (1e3, 1e-3, 25.4, 1 / 25.4, 1e6, 1e-6)
"""What deflections must be multiplied by."""
UNIT_SLIPS = {f"loads times {f:g}": f for f in LOAD_UNITS} | {f"deflections times {f:g}": f for f in LENGTH_UNITS}
SOFTER, ASSUMED_SOFTER = 5.0, 8.0
"""``softer`` beyond which compliances of a file, or those by size, are doubted: three and two of their prior's sd."""
QUOTIENT = 2.0
"""How far the rest may be off one where a slip explains it."""
OF_SIZE = 12.0
"""How far compliances by size may be off one; no arm is off by the square of it, and there a unit may leave as much."""
BACKLASH = 4e-4
"""What moved, as a share of the robot's size, below which backlash may have done it."""
TURNED, BESIDE = (0.5, 0.5), (0.25, 0.7)
"""Turns in rad from which on deflections are refused and warned of, where no more than this share of what joints
of any compliances leave is left then."""
WHOLE = 1e-3
"""Share of deflections below which joints leave nothing that a turn could explain."""
WORSE = 1.1
"""How much farther off places must be without the deflections of their rows to be those of the unloaded arm."""
SEEN = 1e-5, 0.05
"""Deflections that are usual: in m, as arms bend by more than instruments err, and as a share of the robot's size."""


def accepted_loads(accept: str | Sequence[str]) -> tuple[str, ...]:
    """The word that takes loads as they are, where it was accepted."""
    return tuple(w for w in ((accept,) if isinstance(accept, str) else accept) if w == AS_THEY_ARE)


def loads_undone(robot: Robot, campaign: Campaign, word: str) -> Campaign | None:
    """The campaign without the slip; None where it is no such word, or nothing is loaded."""
    if campaign.wrench is None or word not in (REVERSED, OF_TOOL, AS_THEY_ARE, *UNIT_SLIPS):
        return None
    if word == AS_THEY_ARE:
        return campaign
    if word in UNIT_SLIPS:
        what = word.split()[0].removesuffix("s").replace("load", "wrench")
        values = getattr(campaign, what)
        return None if values is None else campaign.changed(**{what: UNIT_SLIPS[word] * values})
    if word == REVERSED:
        return campaign.changed(wrench=-campaign.wrench)
    turn = kinematics(robot.nominal, campaign.joint_values(robot), campaign.load_frame or robot.tool).rotation
    return campaign.changed(wrench=np.einsum("nij,nkj->nki", turn, campaign.wrench.reshape(-1, 2, 3)).reshape(-1, 6))


def check_deflections_read(campaign: Campaign) -> None:
    """Deflections are of loads, and differ from load to load and from pose to pose."""
    if campaign.deflection is None:
        return
    read = np.flatnonzero(np.isfinite(campaign.deflection).any(axis=(1, 2)))
    if campaign.wrench is None or not campaign.wrench[read].any():
        raise MissingError(
            "deflections were read under no load, so nothing bends; give a wrench, or read positions",
            parameter="wrench", code="no-load",
        )  # fmt: skip
    some = campaign.deflection[read]
    same = bool(np.all((some == some[0]) | (np.isnan(some) & np.isnan(some[0]))))
    if same and (not np.nan_to_num(some).any() or len(np.unique(campaign.wrench[read], axis=0)) > 1):
        raise RangeError(
            f"deflection: {campaign.line(int(read[0]))} and all others have the same, which no loads that differ "
            "cause; give loaded minus unloaded, or leave it out",
            parameter="deflection", value=int(read[0]),
        )  # fmt: skip


def check_loads(robot: Robot, campaign: Campaign) -> Finding | None:
    """Refuse loads that push the arm the other way, or any way where the same numbers in tool axes agree with it.

    Those of another unit too; a warning where the compliances may be the cause.
    """
    if not campaign.loaded or int(np.any(campaign.wrench != 0, axis=1).sum()) < FEW:
        return None
    moved = _moved(robot, campaign)
    if moved is None:
        return None
    now = _agreement(robot, campaign, moved)
    if now > NOT:
        return _check_turned(robot, campaign, moved) or (_check_units(robot, campaign, moved) if now > AGREES else None)
    slips = {word: loads_undone(robot, campaign, word) for word in (REVERSED, OF_TOOL)}
    agree = {word: _agreement(robot, made, moved) for word, made in slips.items() if made is not None}
    best = max(agree.values())
    if best < AGREES or (now > AGAINST and agree[OF_TOOL] < best):
        return _check_turned(robot, campaign, moved)
    word, *others = [w for w, c in agree.items() if c >= NEARLY * best]
    alike = f" (or {', '.join(others)})" if others else ""
    raise InputError(
        f"the arm does not go where the loads push it (agreement {now:.2f}, with {word} {agree[word]:.2f}{alike}): "
        f"give what acts on the robot, in base axes; mend the table, or accept it by the words {word}",
        code="slip", value=word, parameter="accept", allowed=(word, *others),
    )  # fmt: skip


def _check_turned(robot: Robot, campaign: Campaign, moved: Array) -> Finding | None:
    """Deflections in axes that are turned to those of the base (``turned``); places know nothing of it."""
    if campaign.deflection is None:
        return None
    p, d = _bends(robot, campaign, moved, lambda q, w, f: _bent(robot, q, w, f))
    turn = nearest_rotation(d.T @ p)
    now, then = _cosine(p, d), _cosine(p @ turn.T, d)
    angle = float(np.linalg.norm(rotation_vector(turn[:, :, None])))
    if then < AGREES or angle < BESIDE[0]:
        return None
    as_read, back = _left_by_joints(robot, campaign, moved, d, d @ turn)
    left = back / max(as_read, WHOLE)
    if left > BESIDE[1]:
        return None
    text = (
        f"the deflections go where the loads push the arm only if turned by {np.degrees(angle):.0f} deg (agreement "
        f"{now:.2f}, then {then:.2f}), as in the axes of an instrument: give them in base axes, or where the "
        f"instrument stands (tracker_frame of a campaign file); where the arm goes so, accept {AS_THEY_ARE}"
    )
    if angle > TURNED[0] and left < TURNED[1]:
        raise InputError(text, code="deflections-turned", value=angle, parameter="accept", allowed=(AS_THEY_ARE,))
    return Finding("deflections-turned", "warning", text, {"angle": angle, "words": [AS_THEY_ARE]})


def _check_units(robot: Robot, campaign: Campaign, moved: Array) -> Finding | None:
    """Loads or deflections that are a common factor off."""
    bends = any(np.any(c.compliance()) for c in robot.coordinates)
    arm = robot if bends else robot.with_joint_compliance()
    assumed = bool(assumed_gears(arm))
    p, d = _bends(robot, campaign, moved, lambda q, w, f: _of_arm(arm, q, w, f))
    push, size = np.sum(p * p), np.sqrt(np.mean(np.sum(d**2, axis=1)))
    softer = float(np.sum(p * d) / push) if push > 0 else 1.0
    if not (softer > 0 and abs(np.log(softer)) > np.log(ASSUMED_SOFTER if assumed else SOFTER)):
        return None
    rest = {
        word: softer * (1 / f if word.startswith("loads") else f)
        for word, f in UNIT_SLIPS.items()
        if word.startswith("loads") or campaign.deflection is not None
    }
    odd = not SEEN[0] < size < SEEN[1] * robot.size  # of deflections: then they, not the loads
    quotient = OF_SIZE if assumed and abs(np.log(softer)) > 2 * np.log(OF_SIZE) else QUOTIENT
    away = {w: round(abs(float(np.log(s))), 6) for w, s in rest.items() if 1 / quotient < s < quotient}
    if not away:
        return None
    word, *others = sorted(away, key=lambda w: (away[w], w.startswith("loads") == odd))
    alike = f" (or {', '.join(others)})" if others else ""
    unit = LOAD_UNITS.get(UNIT_SLIPS[word], "") if word.startswith("loads") else ""
    why = f", as forces in {unit} would be" if unit else ""
    whose = "assumed by the size of the robot" if assumed else "of the robot file"
    says = (
        f"the arm gives way {softer:.3g} times as far as its loads let expect by compliances {whose}, with {word} "
        f"{rest[word]:.2g} times{alike}{why}"
    )
    data = {"softer": softer, "words": [word, *others]}
    if assumed or (softer > 1 and size < BACKLASH * robot.size):
        accept = f"where it is so, accept {word}; where not, {AS_THEY_ARE}"
        return Finding("load-size", "warning", f"{says}; {accept}", data)
    raise InputError(
        f"{says}; give forces in N, moments in N m and the unit of the deflections, or accept it by the words {word}; "
        f"or, where the robot is so, {AS_THEY_ARE}",
        code="slip", value=word, parameter="accept", allowed=(word, *others, AS_THEY_ARE),
    )  # fmt: skip


def _of_arm(arm: Robot, q: Array, wrench: Array, frame: str) -> Array:
    """p (N, 3) of the tool by all compliances."""
    wrenches = np.broadcast_to(wrench, (len(q), 6))
    return linear_deflection(arm, q, [AppliedWrenches(frame, wrenches)]).translation


def _moved(robot: Robot, campaign: Campaign) -> Array | None:
    """Mean over markers (N, 3) of what was read to move, or of what the rigid robot leaves, in base axes."""
    if campaign.deflection is not None:
        return _mean(campaign.deflection)
    return None if campaign.position is None or not campaign.loaded else _left(robot, campaign)[0]


def _left(robot: Robot, campaign: Campaign) -> tuple[Array, Array]:
    """What the rigid robot leaves of places that were read, mean over markers (N, 3) in base axes, and the turns (N, 3,
    3) of their stations."""
    sight = Sight(gather(robot, campaign))
    placing, s = start_placing(robot, sight), sight.states
    at = sight.tool(robot.nominal, ()).states(np.zeros(0))
    assert s.position is not None
    off = _mean(s.position - placed(placing, at.origin, at.turn, s.station))
    turn, rows = placing.turn[s.station], s.state_of(campaign.count)
    return np.asarray(np.einsum("nji,nj->ni", turn, off)[rows]), turn[rows]


def check_places(robot: Robot, campaign: Campaign) -> Finding | None:
    """A warning where places in the rows of deflections are nearer to the rigid robot than without these deflections:
    then they were read of the unloaded arm, and are taken as loaded."""
    if campaign.position is None or campaign.deflection is None or not campaign.loaded:
        return None
    both = np.isfinite(campaign.position).all(axis=2) & np.isfinite(campaign.deflection).all(axis=2)
    if int(both.any(axis=1).sum()) < FEW:
        return None
    places = campaign.take(np.flatnonzero(both.any(axis=1))).changed(deflection=None)
    left, turn = _left(robot, places)
    moved = np.where(both, 1.0, np.nan)[:, :, None] * campaign.deflection
    back = places.position - np.einsum("nij,nmj->nmi", turn, moved[both.any(axis=1)])
    loaded, unloaded = (
        float(np.sqrt(np.nanmean(e**2))) for e in (_left(robot, places.changed(position=back))[0], left)
    )
    if not loaded > WORSE * unloaded:
        return None
    text = (
        f"positions in the rows of deflections are off the robot by {1e3 * unloaded:.3g} mm (RMS) as they are, by "
        f"{1e3 * loaded:.3g} mm without the deflections: they seem to be of the unloaded arm and are taken as loaded; "
        "give them rows of their own, without load"
    )
    return Finding("positions-unloaded", "warning", text, {"as_loaded": loaded, "as_unloaded": unloaded})


def _mean(moved: Array) -> Array:
    known = np.isfinite(moved).all(axis=2, keepdims=True)
    count = known.sum(axis=1)
    return np.where(count > 0, np.where(known, moved, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def _agreement(robot: Robot, campaign: Campaign, moved: Array) -> float:
    """``agreement`` over the loaded rows that were read; 0 without any."""
    return _cosine(*_bends(robot, campaign, moved, lambda q, w, f: _bent(robot, q, w, f)))


def _cosine(p: Array, d: Array) -> float:
    size = np.sqrt(np.sum(p**2) * np.sum(d**2))
    return float(np.sum(p * d) / size) if size > 0 else 0.0


def _bends(
    robot: Robot, campaign: Campaign, moved: Array, bent: Callable[[Array, Array, str], Array]
) -> tuple[Array, Array]:
    """p and d (M, 3) of the loaded rows that were read, without what weights of any size would do."""
    assert campaign.wrench is not None
    q, read = campaign.joint_values(robot), np.isfinite(moved).all(axis=1)
    p, d = bent(q, campaign.wrench, campaign.load_frame or robot.tool)[read], moved[read]
    if campaign.deflection is None:
        down = np.concatenate([robot.gravity, np.zeros(3)])
        weights = np.stack([bent(q, down, f)[read].ravel() for f in robot.joints], axis=1)
        taken = weights @ np.linalg.lstsq(weights, np.stack([p.ravel(), d.ravel()], axis=1), rcond=1e-9)[0]
        p, d = p - taken[:, 0].reshape(p.shape), d - taken[:, 1].reshape(d.shape)
    on = np.any(campaign.wrench[read] != 0, axis=1)
    return p[on], d[on]


def _left_by_joints(robot: Robot, campaign: Campaign, moved: Array, *deflections: Array) -> list[float]:
    """Shares of some ``deflections`` (M, 3) that joints of any compliances leave (``by joints``)."""
    from scipy.optimize import nnls

    def by(joint: Array) -> Array:
        return _bends(robot, campaign, moved, lambda q, w, f: _bent(robot, q, w, f, joint))[0].ravel()

    each = np.stack([by(joint) for joint in np.eye(robot.n)], axis=1)
    return [float(nnls(each, d.ravel())[1] ** 2 / np.sum(d**2)) for d in deflections]


def _bent(robot: Robot, q: Array, wrench: Array, frame: str, share: Array | float = 1.0) -> Array:
    """p (N, 3) of the tool by gears of the robot's size times ``share`` (n,), under wrenches at a frame."""
    arm = robot.nominal.with_joint_compliance()
    stated = {p.name: p.value for p in arm.parameters}
    k = np.array([stated.get(f"{j}.k", 0.0) for j in robot.joints])  # some may not move the tool
    felt, tool = (kinematics(robot.nominal, q, f).jacobian for f in (frame, robot.tool))
    torque = np.einsum("nkj,nk->nj", felt, np.broadcast_to(wrench, (len(q), 6)))
    return np.asarray(np.einsum("nij,j,nj->ni", tool[:, :3], share * k, torque))
