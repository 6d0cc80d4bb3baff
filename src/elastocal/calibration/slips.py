"""Slips of tables and couplings that a robot file lacks, tried as hypotheses where the points are far from the robot.

Every hypothesis changes the robot's controller map or the campaign; its evidence is how near the points then are to
the nominal robot, instrument and markers placed by the robust start.  A coupling of neighbouring axes belongs to the
controller and is taken into the robot; everything else is a slip, which only the user can accept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from elastocal.calibration import load_slips
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.distance_slips import check_distances
from elastocal.calibration.load_slips import check_loads, check_places
from elastocal.calibration.marker_slips import axes_mended, check_markers, medians
from elastocal.calibration.orientation_slips import check_orientations, orientations_undone
from elastocal.calibration.placing import affine_misfit, misplaced_frame, placed_distances
from elastocal.calibration.row_slips import STATION, each_word, from_rows, in_order, markers_word, mended, parted
from elastocal.errors import ConflictError, InputError, UnknownNameError
from elastocal.measure.slips import ALIKE, BETTER, MIRROR, axis_slips, length_slips
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.model.transmission import Transmission
from elastocal.results import Finding, note
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

FAR = 0.01
"""Share of the reach that no sound table is off by: an arm as delivered is off by a few mm on 2.5 m."""
SMALL = 0.1
"""Spread of the points as a share of the robot's below which they cannot be its: metres taken for mm, say."""

EACH = {what: f"a {what} for each table" for what in ("station", "marker")}
SEVERAL = 4
"""Rows of a table that has a station or marker of its own: an instrument can be placed to suit three whatever they are.
"""
ROUGHLY = 3.0
"""In place of ``ALIKE``, which a wrist whose fifth axis is turned by half a turn needs, for distances by a quick
placing."""
LIKELIEST = 40
"""Pairs of hypotheses that are tried with instrument and markers placed."""


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """``words`` accept it; ``coupling`` where it belongs to the robot.

    ``robot`` is the nominal one, whose points are looked at: making it anew costs little."""

    words: tuple[str, ...]
    robot: Robot
    campaign: Campaign
    coupling: bool = False

    def on(self, robot: Robot) -> Robot:
        """The whole robot with the controller map of this one."""
        if self.robot.transmission is robot.transmission:
            return robot
        return replace(robot, transmission=self.robot.transmission)


@dataclass(frozen=True, eq=False)
class Checked:
    """Robot and campaign with what was accepted, and what was found."""

    robot: Robot
    campaign: Campaign
    findings: tuple[Finding, ...]


def check_slips(robot: Robot, campaign: Campaign, accept: str | Sequence[str] = ()) -> Checked:
    """Points first, then distances, orientations and loads of the robot that they have shown."""
    checked = _check_points(robot, campaign, accept)
    as_they_are = bool(load_slips.accepted_loads(accept))
    robot, campaign = checked.robot, checked.campaign
    ranged = campaign.distance is not None
    found = (
        check_distances(robot, campaign, FAR * size_of(robot, campaign.joint_values(robot))) if ranged else None,
        check_orientations(robot, campaign),
        None if as_they_are else check_loads(robot, campaign),
        None if as_they_are else check_places(robot, campaign),
    )
    return replace(checked, findings=(*checked.findings, *(f for f in found if f is not None)))


def _check_points(robot: Robot, campaign: Campaign, accept: str | Sequence[str]) -> Checked:
    """Nothing to do where the points are near; else couplings are taken in, and slips refused unless accepted."""
    right = put_right(robot, campaign, accept)
    robot, campaign, findings = right.robot, right.campaign, right.findings
    far = FAR * size_of(robot, campaign.joint_values(robot))
    distance: float | None = None
    for quick in (True, False):  # what one start finds near, others find nearer
        away = _distances(robot, campaign, quick=quick)
        distance = None if away is None else float(np.nanmedian(away))
        if away is None or distance is None or (distance < far and np.nanmax(medians(away)) < far):
            return right
    assert away is not None
    assert distance is not None
    check_markers(robot, campaign, away, far)
    if distance < far:
        return right
    enough = min(BETTER * distance, far)
    nearest = _Best.of(hypotheses(robot.nominal, campaign))
    if nearest.distance > enough:
        nearest = _Best.of(Hypothesis((w,), robot.nominal, c) for w, c in from_rows(robot, campaign))
    if nearest.distance > enough:
        nearest = _Best.of(_pairs(robot.nominal, campaign))
    best = nearest.hypothesis
    if best is None or nearest.distance > enough:
        return Checked(robot, campaign, (*findings, _far_finding(robot, campaign, distance, far)))
    robot, campaign = best.on(robot), best.campaign
    data = {"before": distance, "after": nearest.distance, "words": list(best.words)}
    moved = f"{_far_words(distance)}; with {', '.join(best.words)} {1e3 * nearest.distance:.3g} mm"
    if not best.coupling:
        raise _refused(moved, best.words, nearest.likewise)
    text = f"the controller couples its axes, which the robot file does not say: the points are {moved}; taken as it is"
    return Checked(robot, campaign, (*findings, Finding("coupling", "warning", text, data)))


def _refused(moved: str, slips: tuple[str, ...], likewise: tuple[str, ...]) -> InputError:
    """The mend of a unit is to state it."""
    unit = any(word.startswith(("lengths in ", "angles in ")) for word in slips)
    mend = "state this unit in the titles of the table or as its units" if unit else "mend the table or the robot file"
    if "mirrored frame" in slips:
        mend = f"two of x, y, z are swapped or one is reversed: {mend}"
    for column in (c for c, word in EACH.items() if word in slips):
        mend = f"name them in a column {column}"
    if slips[0].startswith(STATION):
        mend = "name the places of the instrument in a column station"
    alike = f" (points alone do not tell it from {', '.join(likewise)})" if likewise else ""
    return InputError(
        f"the points are {moved}{alike}; {mend}, or accept it by these words: {', '.join(slips)}",
        code="slip", value=slips[0], parameter="accept",
    )  # fmt: skip


def _far_finding(robot: Robot, campaign: Campaign, distance: float, far: float) -> Finding:
    """No slip fits: a frame of the robot file may stand elsewhere; refused where the points are hopelessly far."""
    frame = misplaced_frame(robot, campaign) if np.isfinite(distance) else None
    text = f"the points are {_far_words(distance)} (median)"
    data: dict[str, Any] = {"before": distance}
    if frame is not None and frame.distance < BETTER * distance and frame.distance < far:
        text += f", and {1e3 * frame.distance:.3g} mm if {frame.text}; correct it there"
        data |= {"after": frame.distance, "frame": frame.frame, "shift": list(frame.shift)}
    else:
        text += (
            ", and no slip that was tried explains it; check that rows of points and joint values belong together, and "
            "that it is this robot"
        )
    if distance > 5 * far:  # infinite where the points are far too close together
        raise InputError(text, code="points-far", value=distance, column=data.get("frame"))
    return Finding("points-far", "warning", text, data)


def _far_words(distance: float) -> str:
    """How points are off in words; infinite where they are too close together for this robot."""
    if not np.isfinite(distance):
        return "far too close together"
    return f"{f'{distance:.3g} m' if distance >= 1 else f'{1e3 * distance:.3g} mm'} away from the robot"


def size_of(robot: Robot, q: Array) -> float:
    """The robot's, or how far its tool moves with these joint values, whichever is larger, in m."""
    position = kinematics(robot.nominal, q).position
    return max(robot.size, float(np.linalg.norm(position - position.mean(axis=0), axis=1).max()))


def put_right(robot: Robot, campaign: Campaign, accept: str | Sequence[str]) -> Checked:
    """With every word that was accepted once, however often it is given; each is noted."""
    given = (accept,) if isinstance(accept, str) else accept
    words = tuple(dict.fromkeys(in_order(campaign, word) for several in given for word in each_word(several)))
    for word in words:
        if campaign.position is None and _other_than_points(robot, campaign, word) is None:
            raise ConflictError(
                "accept: slips are told by points, and none were read; leave it out", parameter="accept", value=accept
            )
        robot, campaign = accepted(robot, campaign, word)
    return Checked(robot, campaign, tuple(note("accepted", f"accepted and applied: {w}", word=w) for w in words))


def accepted(robot: Robot, campaign: Campaign, word: str) -> tuple[Robot, Campaign]:
    back = mended(campaign, word) or axes_mended(campaign, word) or _other_than_points(robot, campaign, word)
    if back is not None:
        return robot, back
    known = {h.words[0]: h for h in hypotheses(robot.nominal, campaign)}
    if word not in known:
        raise UnknownNameError(
            "slip", word, known, "accept", parameter="accept", more="docs/calibration.md, What to look at"
        )
    return known[word].on(robot), known[word].campaign


def _other_than_points(robot: Robot, campaign: Campaign, word: str) -> Campaign | None:
    """The campaign without a slip of orientations, loads or stations; None where ``word`` is none of these."""
    return (
        orientations_undone(campaign, word) or load_slips.loads_undone(robot, campaign, word) or parted(campaign, word)
    )


def _pairs(robot: Robot, campaign: Campaign) -> Iterator[Hypothesis]:
    """A coupling and something else: of a thousand those that an affine placing brings nearest."""
    pairs = [
        Hypothesis((*first.words, *second.words), second.robot, second.campaign, second.coupling)
        for first in hypotheses(robot, campaign)
        if first.coupling
        for second in hypotheses(first.robot, campaign)
    ]
    yield from sorted(pairs, key=_roughly)[:LIKELIEST]


def _roughly(h: Hypothesis) -> float:
    assert h.campaign.position is not None
    at = kinematics(h.robot, h.campaign.joint_values(h.robot))
    return affine_misfit(at.position, at.rotation, h.campaign.station_index, h.campaign.position)


@dataclass(frozen=True, eq=False)
class _Best:
    """The hypothesis that brings the points nearest, how near in m, and others that do so roughly as well."""

    hypothesis: Hypothesis | None
    distance: float
    others: tuple[Hypothesis, ...] = ()

    @classmethod
    def of(cls, tried: Iterator[Hypothesis]) -> _Best:
        best, least, near = None, np.inf, []
        for h in tried:
            distance = distance_of(h.robot, h.campaign, quick=True)
            if distance is None:
                continue
            near.append((distance, h))
            # a coupling explains what it explains: a slip must do clearly better to be preferred
            if distance < (0.5 if best is not None and best.coupling and not h.coupling else 1) * least:
                best, least = h, distance
        if best is None:
            return cls(None, np.inf)
        others = tuple(h for distance, h in near if distance < ROUGHLY * least and h is not best)
        return cls(best, distance_of(best.robot, best.campaign) or np.inf, others)

    @property
    def likewise(self) -> tuple[str, ...]:
        """Words of others that explain the points just as well."""
        near = ALIKE * self.distance
        return tuple(", ".join(h.words) for h in self.others if (distance_of(h.robot, h.campaign) or np.inf) < near)


def distance_of(robot: Robot, campaign: Campaign, *, quick: bool = False) -> float | None:
    """Median distance in m of the points from the nominal robot, best placed; None where no points were read."""
    away = _distances(robot, campaign, quick=quick)
    return None if away is None else float(np.nanmedian(away))


def _distances(robot: Robot, campaign: Campaign, *, quick: bool) -> Array | None:
    """Of all points (N, m); infinite where all points are in one, which fits anything."""
    if campaign.position is None:
        return None
    at = kinematics(robot.nominal, campaign.joint_values(robot))
    away = placed_distances(campaign, at.position, at.rotation, quick=quick)
    spread = np.nanstd(campaign.position.reshape(-1, 3), axis=0).max()
    return away if spread > SMALL * np.std(at.position, axis=0).max() else np.full_like(away, np.inf)


def hypotheses(robot: Robot, campaign: Campaign) -> Iterator[Hypothesis]:
    """Couplings first, then slips of the controller map, of units, of frames and of rows."""
    for slip in axis_slips(robot):
        if slip.unit:
            yield Hypothesis((slip.word,), robot, campaign.changed(q=slip.undone(campaign.q)))
        else:
            yield Hypothesis((slip.word,), _mapped(robot, slip.turn, slip.shift), campaign, slip.coupling)
    assert campaign.position is not None
    for points in (*length_slips(), MIRROR):
        yield Hypothesis((points.word,), robot, campaign.changed(position=points.undone(campaign.position)))
    for step in (1, -1):
        moved = np.roll(campaign.position, step, axis=0)
        moved[0 if step > 0 else -1] = np.nan
        yield Hypothesis((f"readings shifted by {step:+d} row",), robot, campaign.changed(position=moved))
    yield from _by_table(robot, campaign)


def _by_table(robot: Robot, campaign: Campaign) -> Iterator[Hypothesis]:
    """Tables of one campaign, each of another place of the instrument, or of another marker."""
    assert campaign.position is not None
    if len(campaign.places) != campaign.count or not all(" line" in place for place in campaign.places):
        return  # rows of arrays
    of_row = np.array([place.partition(" line")[0] for place in campaign.places])
    tables = list(dict.fromkeys(of_row.tolist()))
    if len(tables) < 2:
        return
    several = min(int(np.sum(of_row == t)) for t in tables) >= SEVERAL
    if several and len(campaign.stations) == 1:
        yield Hypothesis((EACH["station"],), robot, campaign.changed(station=of_row))
    if several and campaign.position.shape[1] == 1 and campaign.deflection is None and campaign.distance is None:
        apart = np.where((of_row[:, None] == tables)[:, :, None], campaign.position, np.nan)
        yield Hypothesis((EACH["marker"],), robot, campaign.changed(position=apart, markers=tuple(tables)))
    for table in tables:
        for one, other in combinations(campaign.markers, 2):
            word = markers_word(one, other, table)
            yield Hypothesis((word,), robot, mended(campaign, word) or campaign)


def _mapped(robot: Robot, turn: Array, shift: Array) -> Robot:
    """The robot whose joints are M (turn c - z + shift) of what its controller shows, c."""
    old = robot.controller
    matrix = old.matrix @ turn
    zero = np.linalg.solve(turn, old.zero - shift)
    return replace(
        robot, transmission=Transmission(old.axes, matrix, np.asarray(zero), None, old.language, old.coupled)
    )
