"""Errors of a validation that are not the robot's: the instrument stands elsewhere, something changed while they were
read, or the table has a slip.

They are told by what puts the readings right: instrument placed anew by them, a change from row to row (``course``), or
one of the slips that a calibration looks for (``slips``), undone.  None is applied: what was read stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.changes import finding_of
from elastocal.calibration.course import STEPS, TRENDS, Course
from elastocal.calibration.placing import Placing, tool_points
from elastocal.calibration.sight import Sight
from elastocal.calibration.slips import FAR, Hypothesis, hypotheses, size_of
from elastocal.calibration.states import States
from elastocal.calibration.task import FLAT
from elastocal.measure.slips import ALIKE, BETTER
from elastocal.model.kinematics import kinematics
from elastocal.results import Finding
from elastocal.solve.blocks import Blocks, Group, Noise, Scale
from elastocal.solve.evidence import posterior
from elastocal.solve.nested import ScoreTests
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import rigid_fit
from elastocal.spatial.rotation import rotation_vector
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.calibration.calibration import Calibration

ANEW = 0.5
"""Share of the error to which a new place of the instrument, or a change, must bring it to be its cause."""
ORDERS = 4
"""Markers of which all orders are tried."""
LEAST = 6
"""Points of a station: an instrument can be placed to suit fewer."""


@dataclass(frozen=True, eq=False)
class Anew:
    """Read minus predicted (M, markers, 3) with all stations placed by the readings: calibrated and nominal robot."""

    away: Array
    nominal: Array
    placing: Placing


def median(away: Array) -> float:
    """Of distances in m, of differences (M, markers, 3)."""
    return float(np.nanmedian(np.linalg.norm(away, axis=2)))


def mean(away: Array) -> float:
    return float(np.nanmean(np.linalg.norm(away, axis=2)))


def moved_instrument(c: Calibration, states: States, away: Array, anew: Anew) -> Finding | None:
    """Where a new place of the instrument explains most of ``away``."""
    assert states.position is not None
    points = np.isfinite(away).all(axis=2).sum(axis=1)
    counts = np.bincount(states.station, points, len(states.stations))
    if not median(anew.away) < ANEW * median(away) or np.any(counts < LEAST):
        return None
    moves = [_moved(c, states, away, anew, s) for s in range(len(states.stations))]
    shift, turn, name = max(moves)
    text = (
        f"The instrument stands {1e3 * shift:.3f} mm and {1e3 * turn:.3f} mrad elsewhere than in the calibration "
        f"(station {name}, at the points): placed anew, the mean error is {1e3 * mean(anew.away):.3f} mm instead of "
        f"{1e3 * mean(away):.3f}, that of the nominal robot {1e3 * mean(anew.nominal):.3f}. If the instrument or its "
        "frame was moved, place it anew (refit); if not, the robot stands elsewhere"
    )
    data = {
        "station": name, "shift": shift, "turn": turn, "anew": mean(anew.away), "nominal_anew": mean(anew.nominal)
    }  # fmt: skip
    return Finding("moved", "warning", text, data)


def changed(here: Calibration, campaign: Campaign, states: States, away: Array, reading: Array) -> Finding | None:
    """What changed while these readings were taken and explains most of ``away``, wherever the instrument stood first.

    ``here`` is the calibration as their stations see it, ``reading`` (M, markers) the sd of one reading per axis."""
    sight = Sight(replace(states, orientation=None, deflection=None, distance=None))
    off, slope = sight.linearise(sight.tool(here.robot, here.names), here.values, here.placing)
    own = len(here.names)
    size = np.sqrt(np.maximum(np.diag(here.covariance), 1e-300))
    values, vectors = np.linalg.eigh(here.covariance / size / size[:, None])
    known = slope @ (size[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))
    stations = slope[:, :, own : own + 6 * len(states.stations)]
    columns = sight.fold(np.concatenate([known, stations], axis=2))
    p, every = known.shape[2], np.arange(columns.shape[2])
    groups = (Group(Scale("known", 1.0, 0.0), every[:p]), Group(Scale("stations", FLAT, 0.0), every[p:]))
    sd = np.repeat(np.nan_to_num(reading, nan=1.0), 3, axis=1)
    noise = Noise(Scale("reading", 1.0, 0.0), sight.spread(sd[:, :, None] * np.eye(sight.rows)))
    blocks = Blocks(sight.fold(off), columns, sight.fold(sight.used), (noise,), groups)
    tests = ScoreTests(posterior(blocks, blocks.start))
    course = Course(sight, here.robot, here.placing, slope[:, :, own:], campaign, tests)
    change = course.best((*STEPS, *TRENDS))
    as_read = float(np.sqrt(np.nanmean((away / reading[:, :, None]) ** 2)))
    if change is None or not change.score.noise < ANEW * as_read:
        return None
    finding = finding_of(course, change, words=False)
    return replace(finding, text=f"{finding.text[0].upper()}{finding.text[1:]}")


def _moved(c: Calibration, states: States, away: Array, anew: Anew, s: int) -> tuple[float, float, str]:
    """How far the points of a station moved, in m, and turned, in rad."""
    mine = states.station == s
    shift = np.nanmean((away - anew.away)[mine], axis=(0, 1))
    turn = anew.placing.turn[s] @ c.placing.turn[c.stations.index(states.stations[s])].T
    angle = float(np.linalg.norm(rotation_vector(turn[:, :, None])))
    return float(np.linalg.norm(shift)), angle, states.stations[s]


def slip(c: Calibration, campaign: Campaign, states: States, nearest: float) -> Finding | None:
    """The slip that brings points near which are ``nearest`` m away (median) wherever the instrument stands."""
    far = FAR * size_of(c.robot, states.q)
    if nearest < far:
        return None
    every = (*hypotheses(c.nominal, campaign), *_exchanged(c, campaign))
    tried = sorted(((_distance(c, h), i, h) for i, h in enumerate(every)), key=lambda t: t[:2])
    distance, _, best = tried[0]
    if distance > min(BETTER * nearest, far):
        return None
    alike = [", ".join(h.words) for d, _, h in tried[1:] if d < ALIKE * distance]
    words = ", ".join(best.words)
    others = f" (points alone do not tell it from {', '.join(alike)})" * bool(alike)
    text = (
        f"A slip of the table: with {words} the points are {1e3 * distance:.3g} mm away (median), wherever the "
        f"instrument stands, instead of {1e3 * nearest:.3g}{others}. Calibration and check must be read alike: mend one"
    )
    return Finding("slip", "warning", text, {"words": list(best.words), "after": distance, "before": nearest})


def _exchanged(c: Calibration, campaign: Campaign) -> Iterator[Hypothesis]:
    """Markers in every other order; a calibration takes them as they come, and knows them from then on."""
    names, read = c.markers, campaign.position
    for order in permutations(range(len(names))) if len(names) <= ORDERS else ():
        if read is not None and list(order) != sorted(order):
            called = ", ".join(names[i] for i in order)
            yield Hypothesis((f"markers in the order {called}",), c.nominal, campaign.changed(position=read[:, order]))


def _distance(c: Calibration, h: Hypothesis) -> float:
    """Median distance in m of points from the nominal robot, with every station placed by them."""
    assert h.campaign.position is not None
    q, read = h.campaign.joint_values(h.robot), h.campaign.position
    if read.shape[1] != len(c.markers):
        return np.inf
    at = kinematics(h.robot, q)
    local = tool_points(at.position, at.rotation, c.placing.markers)
    off = np.full(read.shape[:2], np.nan)
    for s in range(len(h.campaign.stations)):
        mine = (h.campaign.station_index == s)[:, None] & np.isfinite(read).all(axis=2)
        if mine.sum() < LEAST:
            continue
        pose, _ = rigid_fit(local[mine], read[mine])
        off[mine] = np.linalg.norm(local[mine] @ pose.rotation.T + pose.translation - read[mine], axis=1)
    return float(np.nanmedian(off)) if np.isfinite(off).any() else np.inf
