"""The change in the course of a campaign that its readings show, as a warning: row, size, probability, and words that
accept it.

Rows that were left out as outliers count again where a change explains them: of an instrument that was moved late in a
campaign, all later rows are.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.course import LEAST, LEVEL, STEPS, TRENDS, Change, Course
from elastocal.calibration.fit import Fit, distances
from elastocal.calibration.row_slips import (
    BY_MARKER,
    marker_word,
    markers_word,
    measured_order,
    rows_from,
    station_word,
)
from elastocal.calibration.states import States
from elastocal.quantities import probability
from elastocal.results import Finding, warning
from elastocal.solve.evidence import Posterior, posterior
from elastocal.solve.nested import ScoreTests
from elastocal.spatial.entries import Bools, Ints

EXPLAINED = 3.0
"""Standard deviations (rms) that a pose left out as an outlier may be off when its cause is taken in."""
ALIKE = 2.0
"""An exchange leaves no more than this times what targets that may be anywhere leave."""
PLAIN = 5.0
"""Standard deviations of a significant step."""
DRIFTS = {
    "drift": "the instrument or the base drifts, or was moved more than once",
    "joints": "zeros of joints drift, as they do while gears warm up",
    "growth": "the arm grows or shrinks, as it does while it warms up",
}

CALLED = {
    "targets": "markers that sit elsewhere on the tool",
    "joints": "zeros of joints that drift",
    "growth": "an arm that grows or shrinks",
}
"""Kinds beside one that stands before them."""


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
        course = _course(chosen, campaign, posterior(blocks, chosen.posterior.log_scales))
        change = course.best(STEPS)
        mended = np.zeros(len(back), dtype=bool) if change is None else _explained(course, change, back)
        back = back[mended]
        if change is not None and len(back) >= LEAST and (last or mended.all()):
            return (finding_of(course, change, back),)
    course = _course(chosen, campaign, chosen.posterior)
    change = course.best((*STEPS, *TRENDS))
    return () if change is None else (finding_of(course, change),)


def renumbered(finding: Finding, rows: Ints) -> Finding:
    """A change of a campaign of some ``rows``, told by those of the whole; other findings stay."""
    if "outliers" not in finding.data:
        return finding
    data = {**finding.data, "outliers": rows[finding.data["outliers"]].tolist()}
    return replace(finding, data=data | ({"row": int(rows[data["row"]])} if "row" in data else {}))


def _course(chosen: Fit, campaign: Campaign, post: Posterior) -> Course:
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


def _explained(course: Course, change: Change, poses: Ints) -> Bools:
    """Which of the poses are no outliers with the change taken in."""
    off, used = course.left_after(change), course.tests.post.blocks.used
    square = np.sum(np.where(used, off, 0.0) ** 2, axis=1) / np.maximum(used.sum(axis=1), 1)
    return np.asarray(square[poses] < EXPLAINED**2)


def finding_of(course: Course, change: Change, mended: Ints | None = None, *, words: bool = True) -> Finding:
    """``mended`` are poses that were left out, and need not be; ``words`` accept it, where they are taken."""
    s, by_time = course.sight.states, course.campaign.time is not None
    poses = np.zeros(0, dtype=np.int64) if mended is None else mended
    rows = sorted(r for i in np.flatnonzero(np.isin(s.pose, poses)) for r in s.members[int(i)].tolist())
    data: dict[str, Any] = {"probability": change.probability, "level": LEVEL, "outliers": rows}
    data["order"] = "time" if by_time else "rows"
    told = "in the order of their time" if by_time else "if rows stand in the order of measuring"
    chance = f"probability {probability(change.probability)}, level {LEVEL:g}; {told}"
    if change.joint:
        data["joint"] = change.joint
        chance += f", which is that of {change.joint} too, so that an effect of it may look the same"
    if change.alike:
        data["alike"] = ["marker-moved" if kind == "targets" else kind for kind in change.alike]
        chance += f"; the readings do not tell it from {' or '.join(CALLED[kind] for kind in change.alike)}"
    if not change.is_step:
        return _drift(course, change, chance, data)
    data |= {"row": change.row, "place": course.campaign.line(change.row), "last": course.campaign.line(change.last)}
    made, mend, accepts = (_moved if change.kind == "moved" else _targets)(course, change, chance, data)
    if not words:
        return replace(made, text=f"{made.text}; {mend}")
    text = f"{made.text}; accept it by these words, which {mend}: {', '.join(accepts)}"
    return replace(made, text=text, data={**made.data, "words": accepts})


Made = tuple[Finding, str, list[str]]
"""A finding, what to do, and the words that do it."""


def _moved(course: Course, change: Change, chance: str, data: dict[str, Any]) -> Made:
    step, s = change.score.step, course.sight.states
    name, seen = s.stations[change.station], np.isfinite(change.score.sd[3:]).any()
    turn = float(np.linalg.norm(step[3:])) if seen else float("nan")
    turned = f"and {1e3 * turn:.3f} mrad" if seen else "(a turn is not seen)"
    if s.position is not None:
        moves = change.moves[s.station == change.station, course.sight.sections["position"]]
        step = moves.reshape(-1, 3).mean(axis=0)
    shift = float(np.linalg.norm(step[:3]))
    text = (
        f"the instrument or the base was moved between {data['last']} and {data['place']}: points are "
        f"{1e3 * shift:.3f} mm {turned} elsewhere from there on ({chance})"
    )
    finding = warning("moved", text, station=name, shift=shift, turn=turn, **data)
    return finding, "give these rows a station of their own", [station_word(data["place"])]


def _targets(course: Course, change: Change, chance: str, data: dict[str, Any]) -> Made:
    names, place = course.campaign.markers, data["place"]
    pair = _exchanged(course, change)
    if pair is not None:
        one, other = (names[i] for i in pair)
        text = f"markers {one} and {other} are exchanged from {place} on ({chance})"
        finding = warning("exchanged", text, markers=[one, other], **data)
        return finding, "exchange them back", [markers_word(one, other, rows_from(place))]
    step, sd = (v.reshape(-1, 3) for v in (change.score.step, course.sd_after(change)))
    size = np.linalg.norm(step, axis=1)
    plain = [i for i in range(len(size)) if np.any(np.abs(step[i]) > PLAIN * sd[i])] or [int(np.argmax(size))]
    which = ", ".join(f"{names[i]} by {1e3 * size[i]:.3f} mm" for i in plain)
    text = f"markers sit elsewhere on the tool from {place} on: {which} ({chance})"
    finding = warning("marker-moved", text, markers={names[i]: float(size[i]) for i in plain}, **data)
    return finding, "make them markers of their own", [marker_word(names[i], place) for i in plain]


def _exchanged(course: Course, change: Change) -> tuple[int, int] | None:
    """Two markers that explain as much by having been read as each other."""
    sight, tests = course.sight, course.tests
    blocks = tests.post.blocks
    left = blocks.power * float(np.sum(course.left_after(change)[blocks.used] ** 2))
    tables = [getattr(sight.states, key) for key in BY_MARKER if key in sight.sections]
    known = np.any([np.isfinite(v).reshape(*v.shape[:2], -1).any(axis=2) for v in tables], axis=0)
    for pair in combinations(range(sight.states.points), 2):
        both = known[:, pair].all(axis=1)
        if not (np.any(both & (change.weight > 0)) and np.any(both & (change.weight < 1))):
            continue  # such as one marker before and after it was moved
        order = np.arange(sight.states.points)
        order[list(pair)] = pair[::-1]
        extra = np.zeros((sight.states.count, sight.rows))
        for key in BY_MARKER:
            if key in sight.sections:
                read = getattr(sight.states, key)
                extra[:, sight.sections[key]] = (read[:, order] - read).reshape(len(read), -1)
        extra = np.nan_to_num(extra) * change.weight[:, None]
        post = posterior(replace(blocks, readings=blocks.readings + sight.fold(extra)), tests.post.log_scales)
        if blocks.power * float(np.sum(post.white**2)) < ALIKE * left:
            return pair
    return None


def _drift(course: Course, change: Change, chance: str, data: dict[str, Any]) -> Finding:
    size = float(np.nanmax(distances(course.sight, change.moves)))
    text = (
        f"{DRIFTS[change.kind]}: by up to {1e3 * size:.3f} m{course.sight.unit} from first row to last ({chance}); "
        "measure again when all is warm, or name stations for parts of the campaign; poses that are read again at the "
        "end show what is left of it"
    )
    return warning("drift", text, source="instrument" if change.kind == "drift" else change.kind, size=size, **data)
