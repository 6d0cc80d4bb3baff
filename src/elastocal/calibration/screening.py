"""Readings that are left out before a model is chosen: points that no arm reaches, and repeats that do not agree.

Points beyond reach, such as codes of a lost beam, are no readings, whatever is made of the others.  Of K >= 3 readings
y_k of one state, each is compared with the mean of the others,

    t_k = (y_k - mean of others) / (s sqrt(1 + 1 / (K - 1)))                                           (repeats)

s being the scatter of all repeats of the campaign but this one, and but those that are so far off that several of them
would hide each other in it.  The least probable goes first, if fewer than one in a million good campaigns would lose
one; then everything is computed again.  Of two repeats nobody knows which is wrong: these are left to the model
(``repeats_by_model``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from elastocal.calibration.campaign import READ, Campaign
from elastocal.calibration.estimates import Outlier
from elastocal.calibration.fit import Fit
from elastocal.calibration.many import CHUNK, ManyFit
from elastocal.calibration.placing import within_reach
from elastocal.calibration.sight import Sight
from elastocal.calibration.states import Members, States, gather, repeat_scatter
from elastocal.distributions import stdtr
from elastocal.errors import UnobservableError
from elastocal.measure.setup import origins
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.solve.outliers import FAR, LEVEL, LIKELY, Unit
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.spatial.pose import rigid_fit
from elastocal.spatial.rotation import rotation_vector

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration


BEYOND = 2.0
"""Times the reach: farther from the base than this is no point of the arm, however roughly the instrument is placed."""
ELSEWHERE = 0.01
"""Share of the reach that a code of zeros is off by at least: the origin of a table may be one of its points."""
LEAST = 4
"""Points that an instrument is placed by."""


def without_beyond(robot: Robot, campaign: Campaign) -> tuple[Campaign, tuple[Outlier, ...]]:
    """Before any fit: without points that are far too far from the others; no fit can be begun with them."""
    if campaign.position is None:
        return campaign, ()
    origin = origins(robot.nominal, campaign.joint_values(robot), [robot.tool])[:, 0]
    near, _ = within_reach(origin, campaign.station_index, campaign.position)
    gone = np.isnan(near).any(axis=2) & ~np.isnan(campaign.position).any(axis=2)
    return _without(campaign, gone)


def without_lost(c: Calibration, campaign: Campaign) -> tuple[Campaign, tuple[Outlier, ...]]:
    """The same for readings that a calibration is judged by, which knows the arm and its markers.

    The instrument is placed by the other points of its station, wherever it stands.  Three zeros are a code where the
    point is elsewhere.  Points that are merely wrong stay, and so does all where the others do not fit the arm either.
    """
    if campaign.position is None:
        return campaign, ()
    at = kinematics(c.nominal, campaign.joint_values(c.robot))
    arms = np.einsum("nij,mj->nmi", at.rotation, c.placing.markers)
    reach = max(c.robot.size, float(np.linalg.norm(at.position, axis=1).max())) + float(np.abs(arms).max())
    gone = np.zeros(campaign.position.shape[:2], dtype=bool)
    for s in range(len(campaign.stations)):
        mine = campaign.station_index == s
        near, _ = within_reach(at.position[mine], np.zeros(int(mine.sum()), dtype=np.int64), campaign.position[mine])
        gone[mine] = _lost(at.position[mine, None] + arms[mine], campaign.position[mine], near, reach)
    return _without(campaign, gone)


def _lost(local: Array, points: Array, near: Array, reach: float) -> Bools:
    """Of points (N, m, 3) of one station, which are ``local`` in base axes; ``near`` are those that are not far from
    the others."""
    known = np.isfinite(points).all(axis=2)
    good = np.isfinite(near).all(axis=2) & np.any(points != 0, axis=2)
    nothing = np.zeros_like(known)
    while good.sum() >= LEAST:
        try:
            pose, _ = rigid_fit(local[good], points[good])
        except UnobservableError:
            return nothing
        from_base = np.linalg.norm(points - pose.translation, axis=2)
        worst = np.unravel_index(int(np.argmax(np.where(good, from_base, -1.0))), good.shape)
        if from_base[worst] <= BEYOND * reach:
            away = np.linalg.norm(local @ pose.rotation.T + pose.translation - points, axis=2)
            fits = float(np.median(away[good])) < ELSEWHERE * reach
            return np.asarray(known & ~good & (away > ELSEWHERE * reach)) if fits else nothing
        good[worst] = False
    return nothing


def _without(campaign: Campaign, gone: Bools) -> tuple[Campaign, tuple[Outlier, ...]]:
    """Without points (N, markers), but for rows that are kept whatever a test says."""
    gone[campaign.kept_rows] = False
    if not gone.any():
        return campaign, ()
    assert campaign.position is not None
    out = campaign.changed(position=np.where(gone[:, :, None], np.nan, campaign.position))
    return out, tuple(
        Outlier(i, campaign.line(i), campaign.markers[j], None, np.nan, 0.0, _away(campaign, out, i, j))
        for i, j in np.argwhere(gone).tolist()
    )


def _away(campaign: Campaign, kept: Campaign, row: int, marker: int) -> str:
    """How far a point is from the others of its station, in words."""
    assert campaign.position is not None
    assert kept.position is not None
    others = kept.position[campaign.station_index == campaign.station_index[row]].reshape(-1, 3)
    others = others[np.isfinite(others).all(axis=1)]
    if not len(others):
        return ""
    far = float(np.linalg.norm(campaign.position[row, marker] - np.median(others, axis=0)))
    return f"{far:.3g} m from the middle of the other points, where the arm does not reach"


APART = 3.0
"""How many times the range of the others a wrong repeat is away: a state may scatter more than the campaign does."""


def distinct_rows(campaign: Campaign) -> Ints:
    """Rows in their order without those that repeat another in every number: a copy tells nothing of the scatter."""
    keys = ("q", "position", "deflection", "orientation", "distance", "wrench", "temperature")
    columns = [v.reshape(campaign.count, -1) for v in (getattr(campaign, k) for k in keys) if v is not None]
    columns = [*columns, campaign.station_index[:, None]]
    mixed = np.zeros(campaign.count)  # equal for rows that are: only those that share it are compared
    for number, column in enumerate(c for v in columns for c in v.T):
        mixed += np.sqrt(number + 2.0) * np.nan_to_num(column, nan=1e3)
    order = np.argsort(mixed, kind="stable")
    same = mixed[order[1:]] == mixed[order[:-1]]
    shared = np.sort(order[np.append(same, False) | np.insert(same, 0, False)])
    table = np.column_stack([v[shared] for v in columns])
    _, first = np.unique(np.where(np.isnan(table), np.inf, table), axis=0, return_index=True)
    lost = np.delete(shared, first)
    return np.delete(np.arange(campaign.count), lost)


def without_bad_repeats(
    robot: Robot, campaign: Campaign, every: Members | None = None
) -> tuple[Campaign, tuple[Outlier, ...]]:
    """The campaign with nan in the place of wrong repeats, and these by row, marker and axis; ``every`` are its
    repeats, where they are known."""
    every = gather(robot, campaign).members if every is None else every
    members = [every[i] for i in np.flatnonzero(every.counts > 2).tolist()]
    good, lost = dict[str, Array](), []
    for key in READ:
        read = getattr(campaign, key)
        if read is None or not members:
            continue
        values = _vectors(read, members) if key == "orientation" else read.reshape(campaign.count, -1)
        bad, deviation, probability = _screened(values, members, 1 if key == "distance" else 3)
        bad[campaign.kept_rows] = False
        if not bad.any():
            continue
        if key == "orientation":
            bad[:] = bad.any(axis=1, keepdims=True)
        gone = np.repeat(bad[:, :, None], 3, axis=2) if key == "orientation" else bad.reshape(read.shape)
        good[key] = np.where(gone, np.nan, read)
        lost += list(_named(campaign, key, gone, deviation, probability))
    return campaign.changed(**good), tuple(lost)


def repeats_by_model(campaign: Campaign, fitted: Fit, units: Sequence[Unit]) -> tuple[Campaign, tuple[Outlier, ...]]:
    """The campaign with nan in the place of repeats that spoil their state, and these.

    Of a state whose mean is an outlier, repeats that the other readings predict are good: the rest are left out instead
    of the state.
    """
    sight, s = fitted.task.sight, fitted.task.sight.states
    off, _ = sight.linearise(fitted.task.tool, fitted.values, fitted.placing)
    good, lost = dict[str, Array](), []
    for unit in units:
        for state in np.flatnonzero(s.pose == unit.block).tolist():
            rows = [r % sight.rows for r in unit.rows if r // sight.rows == s.slot[state]]
            members = s.members[state]
            key = next((k for k, part in sight.sections.items() if rows and part.start <= rows[0] < part.stop), "")
            if len(members) < 2 or key not in ("position", "deflection"):
                continue
            at = np.array(rows) - sight.sections[key].start
            if at.max() >= 3 * s.points:  # numbers of several kinds
                continue
            mean = getattr(s, key)[state].reshape(-1)[at]
            each = getattr(campaign, key)[members].reshape(len(members), -1)[:, at]
            away = np.abs(each - mean + off[state, rows])
            far = np.nanmax(away, axis=1) > FAR * np.sqrt(len(members)) * np.abs(off[state, rows]).max() / unit.size
            far &= [not campaign.kept(int(i)) for i in members]
            if far.all() or not far.any():
                continue
            gone = np.zeros(getattr(campaign, key).shape, dtype=bool)
            gone.reshape(campaign.count, -1)[np.ix_(members[far], at)] = True
            good[key] = np.where(gone, np.nan, good.get(key, getattr(campaign, key)))
            size, rare = np.full(gone.shape, unit.size), np.full(gone.shape, unit.probability)
            lost += list(_named(campaign, key, gone, size, rare))
    return campaign.changed(**good), tuple(lost)


def repeats_of_many(campaign: Campaign, states: States, many: ManyFit) -> tuple[Campaign, tuple[Outlier, ...]]:
    """The same for all states of a campaign of many poses, in the memory of one chunk."""
    lost: tuple[Outlier, ...] = ()
    for part in states.parts(CHUNK):
        first, last = states.pose[part][[0, -1]].tolist()
        units = [replace(u, block=u.block - first) for u in many.units if first <= u.block <= last]
        if units:
            task = replace(many.fit.task, sight=Sight(states.part(part)), dropped=many.dropped[part])
            campaign, more = repeats_by_model(campaign, replace(many.fit, task=task), units)
            lost += more
    return campaign, lost


def _vectors(turns: Array, members: list[Ints]) -> Array:
    """Rotation vectors (N, 3) from the turn of the state that is nearest to all others; nan outside of repeats."""
    out = np.full((len(turns), 3), np.nan)
    for rows in members:
        mine = turns[rows]
        apart = np.nansum(np.linalg.norm(mine[:, None] - mine[None], axis=(2, 3)), axis=1)
        known = np.isfinite(mine).all(axis=(1, 2))
        middle = mine[int(np.argmin(np.where(known, apart, np.inf)))]
        out[rows] = rotation_vector(np.moveaxis(middle.T @ mine, 0, -1)).T
    return out


def _screened(values: Array, members: list[Ints], width: int) -> tuple[Bools, Array, Array]:
    """Wrong numbers (N, columns), and of every number its deviation and probability among those that stay."""
    bad = np.zeros(values.shape, dtype=bool)
    deviation, probability = np.zeros(values.shape), np.ones(values.shape)
    sd = _robust_sd(values, members)
    while True:
        t, p = _studentised(np.where(bad, np.nan, values), members, sd)
        count = int(np.isfinite(t).sum())
        if not count:
            break
        place = np.unravel_index(int(np.nanargmin(np.where(np.isfinite(p), p, 1.0))), p.shape)
        if not p[place] * count < LEVEL:
            break
        first = width * (int(place[1]) // width)  # of its point, what does not agree either
        mine = np.arange(first, first + width)
        gone = mine[(p[place[0], mine] < LIKELY) | (mine == place[1])]
        bad[place[0], gone] = True
        deviation[place[0], gone], probability[place[0], gone] = np.abs(t[place[0], gone]), p[place[0], gone]
    return bad, deviation, probability


def _robust_sd(values: Array, members: list[Ints]) -> float:
    """Of one reading, by the median of all offsets from the medians of the states: wrong ones hardly change it."""
    offsets = []
    for rows in members:
        mine = np.sort(values[rows], axis=0)
        k = np.isfinite(mine).sum(axis=0)
        middle = [np.take_along_axis(mine, i[None], axis=0) for i in ((k - 1) // 2, k // 2)]
        offsets.append(np.abs(mine - np.mean(middle, axis=0)).ravel())
    each = np.concatenate(offsets)
    return float(np.median(each[each > 0]) / 0.6745) if np.any(each > 0) else 0.0  # a median is at none from itself


def _studentised(values: Array, members: list[Ints], sd: float) -> tuple[Array, Array]:
    """t of every repeat against the others of its state, and its probability; nan where there are no two others.

    Numbers that are ``FAR`` times ``sd`` away take no part in the scatter that all are judged by.
    """
    away, factor = _apart(values, members)
    far = np.abs(away) > FAR * sd * np.sqrt(factor)
    squares, freedom = repeat_scatter(np.where(far, np.nan, values), members)
    own, left = np.where(far, 0.0, away**2 / factor), np.maximum(1, freedom - ~far)
    t = away / np.sqrt(np.maximum(squares - own, 1e-300) / left * factor)
    return t, np.where(np.isfinite(t), 2 * stdtr(left, -np.abs(t)), np.nan)


def _apart(values: Array, members: list[Ints]) -> tuple[Array, Array]:
    """Of every repeat its distance from the mean of the others, nan where they are as wide apart; and the variance of
    that distance in those of a reading."""
    away, factor = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    for rows in members:
        mine = values[rows]
        k = np.isfinite(mine).sum(axis=0)
        total = np.nansum(mine, axis=0)
        for i, row in enumerate(rows):
            others = np.delete(mine, i, axis=0)
            known = np.isfinite(others)
            high = np.max(np.where(known, others, -np.inf), axis=0)
            low = np.min(np.where(known, others, np.inf), axis=0)
            d = (mine[i] * k - total) / np.maximum(k - 1, 1)
            wide = (known.sum(axis=0) >= 2) & (np.abs(d) > APART * (high - low))
            away[row] = np.where(wide, d, np.nan)
            factor[row] = 1 + 1 / np.maximum(k - 1, 1)
    return away, factor


def _named(campaign: Campaign, key: str, bad: Bools, deviation: Array, probability: Array) -> Iterator[Outlier]:
    """Rows, points or numbers, as far as they are wrong."""
    for row in np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1)).tolist():
        size, least = float(deviation[row].max()), float(probability[row].min())
        line = campaign.line(row)
        if key == "orientation":
            yield Outlier(row, line, None, "orientation", size, least)
            continue
        if bad[row].all() and campaign.points > 1:
            yield Outlier(row, line, None, None, size, least)
            continue
        for j, marker in enumerate(campaign.markers):
            own = np.atleast_1d(bad[row, j])
            if key == "distance" and own.any():
                yield Outlier(row, line, marker, "distance", size, least)
            elif own.all():
                yield Outlier(row, line, marker, None, size, least)
            elif own.any():
                yield from (Outlier(row, line, marker, "xyz"[i], size, least) for i in np.flatnonzero(own).tolist())
