"""What a log shows of itself before any model of its torques: columns that are no readings, values that are not new.

**Constant columns.**  Friction alone makes the torque of a moving joint vary; a column that does not is none of its.

**Jumps.**  Rows that are missing without a gap in time, a counter that was set, a value that was lost for a moment
(``elastocal.measure.motion.jumps``).  Pieces before and after are taken by themselves; a short piece from which the
value comes back is left out.

**Held positions.**  Joint values that are updated less often than torques stand for some rows and then step.  A step
is none of the last digit, where the value moves by more than two digits at both ends of a hold, and holds that are
equally long are a clock and no motion.  A value is that of the row in which it first stands; between, values are those
of a monotone cubic, so that no joint turns back where it did not.

**Saturated drives.**  A drive at its limit stands there while the weight goes on.  Readings with noise pile up in a
narrow band at the end of their range, five times as many as in the bands beside it, where a torque that turns back by
itself leaves three times as many at most, however narrow the band (an arc sine); and what the masses let expect varies
by more than the band in these rows.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np

from elastocal.errors import MissingError
from elastocal.measure.joints import JointLog
from elastocal.measure.motion import Jump, jumps
from elastocal.model.robot import Robot
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity.samples import CLIPPED, LEAST, STILL
from elastocal.results import Finding, warning
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

SHORT = 0.1
"""Share of a log that may be left out between a jump and the one back."""
DIGITS = 2.5
"""Times the finest step of a joint value: a larger one is no step of the last digit."""
OFTEN = 0.05
"""Share of repeated values from which they are held."""
REGULAR = 0.8
"""Share of the holds that are as long as the middle one, to a row or a quarter."""
STEPPED = 3.0
"""Times the change of torques within holds: where torques step with the values, the arm stood in between."""
BANDS = np.geomspace(0.1, 0.001, 14)
"""Shares of the range of a torque in which readings of a saturated drive may scatter."""
PILED = 5.0
"""Times as many readings in the band as in those beside it."""
PASSING = 3.0
"""Times a band that the expected torque must vary there."""


@dataclass(frozen=True, eq=False)
class Usable:
    """A log without what is no reading of this arm; ``refused`` says why nothing is read of a joint."""

    log: JointLog
    findings: tuple[Finding, ...]
    refused: dict[str, str]


def usable(model: Robot, log: JointLog) -> Usable:
    log, constant, refused = _varying(log)
    log, apart = _in_pieces(model, log)
    log, held = _released(log)
    log, saturated = _unsaturated(model, log)
    return Usable(log, (*constant, *apart, *held, *saturated), refused)


def _varying(log: JointLog) -> tuple[JointLog, list[Finding], dict[str, str]]:
    """Without the torques of joints that move under a torque that never changes."""
    torque, out, refused = log.torque.copy(), [], {}
    for j, joint in enumerate(log.joints):
        read = torque[np.isfinite(torque[:, j]), j]
        if len(read) >= LEAST and np.ptp(read) == 0 and np.ptp(log.q[:, j]) > STILL:
            torque[:, j] = np.nan
            refused[joint] = f"its torque column is {read[0]:g} in all {len(read)} rows"
            message = (
                f"THE TORQUE OF {joint} IS {read[0]:g} IN ALL {len(read)} ROWS of {log.source} while it moves: this is "
                "no reading and is left out; check the column, or what the controller records."
            )
            out.append(warning("constant-torque", message, joint=joint, value=float(read[0]), rows=len(read)))
    if out and not np.isfinite(torque).any():
        each = "; ".join(f"{joint}: {why}" for joint, why in refused.items())
        raise MissingError(
            f"{log.source}: no torque changes while the joints move ({each}); check what the controller records",
            code="no-torques",
            file=log.source,
        )
    return (replace(log, torque=torque) if out else log), out, refused


def _in_pieces(model: Robot, log: JointLog) -> tuple[JointLog, list[Finding]]:
    """Without the rows between a jump and the one back; every jump is named with its row."""
    found, lost, out = jumps(log), np.zeros(log.count, dtype=bool), []
    for first, last in pairwise(found):
        if _comes_back(log, first, last):
            lost[first.row : last.row] = True
    for row, joints in groupby((j for j in found if not lost[j.row - 1]), lambda jump: jump.row):
        here = list(joints)
        sizes = ", ".join(f"{log.joints[j.joint]} by {_size(model, j)}" for j in here)
        count = int(np.argmin(np.append(lost, False)[row:]))
        what = (
            f"it comes back after {count} row(s), which are left out"
            if count
            else "rows are missing there or a counter was set; the pieces before and after are taken by themselves"
        )
        data = {"joints": ", ".join(log.joints[j.joint] for j in here), "line": int(log.lines[row]), "left_out": count}
        message = f"JOINT VALUES JUMP in {log.place(row)}: {sizes}; {what}."
        out.append(warning("jump", message, **data, sizes=[j.size for j in here]))
    return (log.rows(~lost) if lost.any() else log), out


def _size(model: Robot, jump: Jump) -> str:
    turns = model.motions[jump.joint].kind == "revolute"
    return f"{np.degrees(jump.size):.3g} deg" if turns else f"{1e3 * jump.size:.3g} mm"


def _comes_back(log: JointLog, first: Jump, last: Jump) -> bool:
    """Whether a joint goes on after two jumps where it was before them."""
    rows = last.row - first.row
    if first.joint != last.joint or rows > SHORT * log.count:
        return False
    q = log.q[:, first.joint]
    usual = float(np.percentile(np.abs(np.diff(q)), 99))
    return bool(abs(q[last.row] - q[first.row - 1]) <= (rows + 1) * usual)


def _released(log: JointLog) -> tuple[JointLog, list[Finding]]:
    """With held joint values between those that are new."""
    periods = {j: period for j in range(len(log.joints)) if (period := _period(log, j))}
    if not periods:
        return log, []
    last = log.count
    q, clock = log.q.copy(), np.arange(log.count, dtype=np.float64) if log.time is None else log.time
    for j, period in periods.items():
        nodes = _new_values(log.q[:, j], period)
        q[:, j] = _between(clock, nodes, log.q[nodes, j])
        last = min(last, int(nodes[-1]) + 1)
    names, period = ", ".join(log.joints[j] for j in periods), float(np.median(list(periods.values())))
    message = (
        f"THE VALUES OF {names} STAND FOR {period:.3g} ROWS AT A TIME in {log.source} while torques go on: each is "
        "taken for the row in which it first stands, and a smooth curve between; log joint values as often as torques."
    )
    return replace(log, q=q).rows(np.arange(last)), [warning("held-positions", message, joints=names, period=period)]


def _period(log: JointLog, joint: int) -> float:
    """Rows for which a joint value stands, on average; zero where it moves with every row or does not move."""
    step = np.abs(np.diff(log.q[:, joint]))
    new = np.flatnonzero(step > 0)
    if len(new) <= LEAST:
        return 0.0
    large = step[new] > DIGITS * step[new].min()
    holds = np.diff(new)[large[1:] & large[:-1]]
    if len(holds) < LEAST or np.mean(holds - 1) < OFTEN * np.mean(holds):
        return 0.0
    usual = float(np.median(holds))
    if np.mean(np.abs(holds - usual) <= max(1.0, 0.25 * usual)) < REGULAR or _stations(log, new):
        return 0.0
    return float(np.mean(holds[holds <= 1.5 * usual]))


def _stations(log: JointLog, new: Ints) -> bool:
    """Whether torques step where values do."""
    change = np.abs(np.diff(log.torque, axis=0))
    here = np.zeros(len(change), dtype=bool)
    here[new] = True
    sizes = [(np.mean(c[here & known]), np.mean(c[~here & known])) for c in change.T if (known := np.isfinite(c)).any()]
    return any(there > STEPPED * within for there, within in sizes)


def _new_values(q: Array, period: float) -> Ints:
    """Rows in which a value is new, and every ``period`` while it stands for longer."""
    new = np.concatenate([[0], np.flatnonzero(np.diff(q)) + 1])
    every = max(1, round(period))
    parts = [np.arange(a, max(a + 1, b - every // 2), every) for a, b in pairwise([*new.tolist(), len(q)])]
    return np.concatenate(parts)


def _between(clock: Array, nodes: Ints, values: Array) -> Array:
    from scipy.interpolate import PchipInterpolator

    return np.asarray(PchipInterpolator(clock[nodes], values)(np.clip(clock, clock[nodes[0]], clock[nodes[-1]])))


def _unsaturated(model: Robot, log: JointLog) -> tuple[JointLog, list[Finding]]:
    """Without readings in a narrow band at the end of their range where the weight goes on."""
    torque, out = log.torque.copy(), []
    expected = holding_torque(model, log.q) if model.loads else np.zeros(torque.shape)
    for j, joint in enumerate(log.joints):
        for side in (1.0, -1.0):
            column = side * torque[:, j]
            at = _piled_up(column)
            width = float(np.ptp(column[at])) if at.any() else 0.0
            if not width or np.ptp(np.percentile(expected[at, j], [5, 95])) < PASSING * width:
                continue
            level = side * float(np.median(column[at]))
            torque[at, j] = np.nan
            unit = "N m" if model.motions[j].kind == "revolute" else "N"
            message = (
                f"THE DRIVE OF {joint} WAS SATURATED: {int(at.sum())} torques of {log.source} stand within {width:.3g} "
                f"{unit} at {level:.4g} {unit} while the weight goes on; they are left out."
            )
            out.append(warning("saturated", message, joint=joint, level=level, count=int(at.sum())))
    return (replace(log, torque=torque) if out else log), out


def _piled_up(column: Array) -> Bools:
    """The readings (N,) at the upper end that are far more than those below; none where they are one number."""
    read, none = column[np.isfinite(column)], np.zeros(len(column), dtype=bool)
    if len(read) < LEAST or np.ptp(read) == 0 or np.sum(read == read.max()) >= CLIPPED:
        return none
    bands = BANDS * np.ptp(read)
    inside, both = (np.array([np.sum(read >= read.max() - k * band) for band in bands]) for k in (1, 3))
    ratio = np.where(inside >= LEAST, inside / np.maximum((both - inside) / 2, 1.0), 0.0)
    best = int(np.argmax(ratio))
    return np.nan_to_num(column, nan=-np.inf) >= read.max() - bands[best] if ratio[best] >= PILED else none
