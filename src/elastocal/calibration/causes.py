"""Why points and poses that were left out are wrong, where one cause explains them and chance does not.

Tried against what the calibration predicts of the same row: the readings of another row that was left out, two markers
exchanged, one axis elsewhere than the table says.  With x read, p predicted and s its standard deviation,

    before = rms((x - p) / s),    after = the same with the cause put right,                                  (cause)

a cause is clear where ``after`` is no more than noise and a reading wrong in any other way would hardly come so near:
tries (after / before)^f < 1 %, f the numbers that it explains less those that it chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.given import ANGLES, LENGTHS
from elastocal.calibration.placing import placed
from elastocal.calibration.row_slips import markers_word, rows_word
from elastocal.calibration.sight import point_slopes
from elastocal.model.kinematics import kinematics
from elastocal.quantities import quantile_95
from elastocal.results import Finding, note
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

NOISE = 3.0
"""Standard deviations (rms) that a reading may be off when its cause is put right."""
CLEAR = 0.01
"""Probability of coming so near by chance."""
ALIKE = 1.5
"""Axes that bring a reading within this multiple of the best are not told from it: turning about one line, say."""
GRID, STEPS, EXACT = 72, 6, 2
"""Values of an axis tried over its turn; steps from the best by the nominal arm, and by the calibrated one."""
MOST = 30
"""Rows that are looked at, the first of the campaign; a note says where there are more."""


@dataclass(frozen=True)
class Cause:
    """``rows`` that it explains; ``word`` accepts it, where there is one."""

    rows: tuple[int, ...]
    text: str
    before: float
    after: float
    word: str = ""


@dataclass(frozen=True, eq=False)
class _Wrong:
    """Rows with a whole point left out: read and predicted points and sds (k, m, 3), joint and controller values."""

    rows: Ints
    read: Array
    predicted: Array
    sd: Array
    whole: Array
    """Whether all that was read of the row was left out."""

    def off(self, read: Array, i: int) -> float:
        return float(np.sqrt(np.nanmean(((read - self.predicted[i]) / self.sd[i]) ** 2)))


def with_causes(cal: Calibration, campaign: Campaign) -> Calibration:
    """The same with the likely causes of outliers, and a word on them.

    A change in the course of the campaign (``changes``) is a finding of its own, which names the rows that it explains.
    """
    known = {row: _short(w) for w in cal.warnings for row in w.data.get("outliers", ())}
    own = ("" if np.isfinite(o.deviations) else o.cause for o in cal.outliers)  # how far a point beyond reach is
    outliers = tuple(replace(o, cause=known.get(o.row, c)) for o, c in zip(cal.outliers, own, strict=True))
    cal = replace(cal, outliers=outliers)
    named, more = tuple(causes(cal, campaign)), len(_doubted(cal)) - MOST
    if more > 0 and campaign.position is not None:
        why = f"causes were sought for the first {MOST} rows with points that were left out, not for {more} others"
        cal = replace(cal, warnings=(*cal.warnings, note("causes-not-sought", why, rows=more)))
    if not named:
        return cal
    text = {row: c.text for c in named for row in c.rows}
    outliers = tuple(replace(o, cause=text.get(o.row, o.cause)) if o.axis is None else o for o in cal.outliers)
    words = [c.word for c in named if c.word]
    message = "; ".join(f"{_said(c, campaign)} ({c.before:.0f} sd off, then {c.after:.1f})" for c in named)
    accept = f"; readings are used where these words are accepted: {', '.join(words)}" if words else ""
    data = {"causes": [{**vars(c), "rows": [campaign.line(r) for r in c.rows]} for c in named], "words": words}
    finding = Finding("likely-cause", "warning", f"outliers with a likely cause: {message}{accept}", data)
    return replace(cal, outliers=outliers, warnings=(*cal.warnings, finding))


def _short(change: Finding) -> str:
    what = {"moved": "instrument or base moved", "marker-moved": "markers moved", "exchanged": "markers exchanged"}
    return f"{what[change.code]} before {change.data['place']}"


def _said(cause: Cause, campaign: Campaign) -> str:
    return cause.text if len(cause.rows) > 1 else f"{campaign.line(cause.rows[0])}: {cause.text}"


def causes(cal: Calibration, campaign: Campaign) -> Iterator[Cause]:
    wrong = _wrong(cal, campaign)
    if wrong is None:
        return
    explained: set[int] = set()
    for cause in (*_rows(wrong, campaign), *_markers(wrong, campaign), *_axes(wrong, cal, campaign)):
        if not explained & set(cause.rows):
            explained |= set(cause.rows)
            yield cause


def _clear(before: float, after: float, freedom: int, tries: int) -> bool:
    near = max(after, 1.0) / before
    return after < NOISE and near < 1 and tries * near**freedom < CLEAR


def _doubted(cal: Calibration) -> list[int]:
    """Rows with a whole point left out by its deviation, whose cause is not known yet."""
    return sorted({o.row for o in cal.outliers if o.axis is None and np.isfinite(o.deviations) and not o.cause})


def _wrong(cal: Calibration, campaign: Campaign) -> _Wrong | None:
    if campaign.position is None:
        return None
    rows = np.array([r for r in _doubted(cal)[:MOST] if np.isfinite(campaign.position[r]).all(axis=1).any()], int)
    if not len(rows):  # or deflections alone, of which no cause is known
        return None
    gone = np.zeros((campaign.count, campaign.points), dtype=bool)
    for o in cal.outliers:
        if o.axis is None:
            gone[o.row, slice(None) if o.marker is None else campaign.markers.index(o.marker)] = True
    read = campaign.position[rows]
    known = np.isfinite(read).all(axis=2)
    at, sd = _predicted(cal, campaign, rows, campaign.joint_values(cal.robot)[rows])
    return _Wrong(rows, read, at, sd, (gone[rows] | ~known).all(axis=1))


def _predicted(cal: Calibration, campaign: Campaign, rows: Ints, q: Array) -> tuple[Array, Array]:
    """Points (k, m, 3) at joint values of rows, and their sd."""
    at, sd = (np.zeros((len(rows), campaign.points, 3)) for _ in range(2))
    for station in dict.fromkeys(campaign.station[rows].tolist()):
        mine = campaign.station[rows] == station
        loads = None if campaign.wrench is None else campaign.wrench[rows[mine]]
        warm = None
        if "thermal" in cal.words and campaign.temperature is not None:
            warm = campaign.temperature[rows[mine]] - cal.reference_temperature
        made = cal.predict_joints(q[mine], loads, station, warm=warm)
        at[mine], sd[mine] = made.position, made.half_width_reading / quantile_95(cal.freedom)
    return at, sd


def _rows(wrong: _Wrong, campaign: Campaign) -> Iterator[Cause]:
    """Two rows that hold each other's readings."""
    pairs = list(combinations(np.flatnonzero(wrong.whole).tolist(), 2))
    for i, j in pairs:
        one, other = int(wrong.rows[i]), int(wrong.rows[j])
        if campaign.station[one] != campaign.station[other]:
            continue
        before = min(wrong.off(wrong.read[i], i), wrong.off(wrong.read[j], j))
        after = max(wrong.off(wrong.read[j], i), wrong.off(wrong.read[i], j))
        if _clear(before, after, 6 * campaign.points, len(pairs)):
            text = f"{campaign.line(one)} and {campaign.line(other)} exchanged"
            yield Cause((one, other), text, before, after, rows_word(campaign, one, other))


def _markers(wrong: _Wrong, campaign: Campaign) -> Iterator[Cause]:
    """Two markers that were read as each other."""
    pairs = list(combinations(range(campaign.points), 2))
    for i, row in enumerate(wrong.rows.tolist()):
        for pair in pairs:
            mine, swapped = np.full_like(wrong.read[i], np.nan), np.full_like(wrong.read[i], np.nan)
            mine[list(pair)], swapped[list(pair)] = wrong.read[i][list(pair)], wrong.read[i][list(pair[::-1])]
            if not np.isfinite(mine[list(pair)]).all():
                continue
            before, after = wrong.off(mine, i), wrong.off(swapped, i)
            if _clear(before, after, 6, len(pairs)):
                one, other = (campaign.markers[k] for k in pair)
                word = markers_word(one, other, campaign.line(row))
                yield Cause((row,), f"markers {one} and {other} exchanged", before, after, word)
                break


def _axes(wrong: _Wrong, cal: Calibration, campaign: Campaign) -> Iterator[Cause]:
    """One axis that stood elsewhere than the table says."""
    picked = np.flatnonzero(wrong.whole)
    n, freedom = cal.robot.n, np.isfinite(wrong.read).all(axis=2).sum(axis=1) * 3 - 1
    if not len(picked):
        return
    shift, off = _shifts(wrong, cal, campaign, picked)
    for i, moved, left in zip(picked.tolist(), shift, off, strict=True):
        row, before = int(wrong.rows[i]), wrong.off(wrong.read[i], i)
        good = [k for k in range(n) if _clear(before, float(left[k]), int(freedom[i]), n)]
        if good:
            best = min(good, key=lambda k: left[k])
            alike = [k for k in good if max(left[k], 1.0) <= ALIKE * max(left[best], 1.0)]
            text = " or ".join(_stood(cal, campaign, row, k, float(moved[k])) for k in alike)
            yield Cause((row,), text, before, float(left[best]))


def _stood(cal: Calibration, campaign: Campaign, row: int, axis: int, shift: float) -> str:
    """In degrees or mm, whatever the units of the campaign."""
    turns = cal.robot.motions[axis].kind == "revolute"
    written = float(campaign.q[row, axis]) * (ANGLES[campaign.angle] if turns else LENGTHS[campaign.length])
    size, unit = (180 / np.pi, "deg") if turns else (1e3, "mm")
    stood = f"{size * (written + shift):.2f} {unit}, not {size * written:.2f}"
    return f"{cal.robot.controller.axes[axis]} stood at {stood}"


def _shifts(wrong: _Wrong, cal: Calibration, campaign: Campaign, picked: Ints) -> tuple[Array, Array]:
    """Shifts (k, n) of single axes, in rad and m, that bring rows nearest, and how far they are off then."""
    robot, rows = cal.robot, wrong.rows[picked]
    n, k = robot.n, len(picked)
    q, each = campaign.joint_values(robot)[rows], robot.controller.matrix.T
    station = np.array([cal.stations.index(s) for s in campaign.station[rows].tolist()])
    station, twice = np.repeat(station, n), np.repeat(picked, n)
    aim, sd = wrong.read[twice], wrong.sd[twice]
    start = np.repeat(q, n, axis=0)
    way = np.tile(each, (k, 1))

    def arm(shift: Array) -> tuple[Array, Array]:
        """Points of the nominal arm and their slopes by the shift."""
        at = kinematics(robot.nominal, start + shift[:, None] * way)
        slope = np.einsum("nij,nj->ni", at.jacobian, way)[:, :, None]
        arms = np.einsum("nij,mj->nmi", at.rotation, cal.placing.markers)
        points = placed(cal.placing, at.position, at.rotation, station)
        return points, point_slopes(slope, arms, cal.placing.turn[station])[..., 0]

    rest = wrong.predicted[twice] - arm(np.zeros(k * n))[0]

    def step(points: Array, slope: Array) -> tuple[Array, Array]:
        left = np.nan_to_num((aim - points) / sd)
        lean = np.where(np.isfinite(aim), slope / sd, 0.0)
        size = np.maximum(np.sum(lean**2, axis=(1, 2)), 1e-300)
        return np.sum(lean * left, axis=(1, 2)) / size, np.sum(left**2, axis=(1, 2))

    reach = np.array([np.pi if m.kind == "revolute" else robot.size for m in robot.motions])
    tried = np.linspace(-1, 1, GRID, endpoint=False)[:, None] * np.tile(reach, k)
    cost = np.stack([step(arm(shift)[0] + rest, np.zeros_like(aim))[1] for shift in tried])
    shift = tried[np.argmin(cost, axis=0), np.arange(k * n)]
    for _ in range(STEPS):
        points, slope = arm(shift)
        shift = shift + step(points + rest, slope)[0]
    for last in range(EXACT + 1):
        points = _predicted(cal, campaign, np.repeat(rows, n), start + shift[:, None] * way)[0]
        change, square = step(points, arm(shift)[1])
        if last < EXACT:
            shift = shift + change
    numbers = np.maximum(np.isfinite(aim).sum(axis=(1, 2)) - 1, 1)
    return shift.reshape(k, n), np.sqrt(square / numbers).reshape(k, n)
