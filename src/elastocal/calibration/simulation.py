"""Readings of a robot that is known, as a ``Campaign``: every stated error drawn at random; and what readings tell.

    truth = robot.with_parameters({"A2.k": 1.1 * k})
    data = simulate(truth, plan(robot, loads=[...]), noise=[Reading(sd=3e-5), Encoder(sd=1e-5)], rng=1)
    calibrate(robot, data)

The truth is always the loaded equilibrium, with weights, springs and backlash.  Errors are as in ``measure.virtual``:
drawn anew for every reading, or once for the whole campaign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np

from elastocal.arguments import checked, generator, vector
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.given import LENGTHS, controller_to_joints, factors, pose_table, wrench_table
from elastocal.design.assessing import Assessment
from elastocal.design.assessing import assess as assess_measured
from elastocal.design.result import Plan
from elastocal.errors import ConflictError, MissingError, RangeError, UnknownNameError, UnsupportedError
from elastocal.files.robot.read import read_robot
from elastocal.measure.kind import Measurement
from elastocal.measure.markers import Deflection, Position
from elastocal.measure.measured import Measured, virtual_campaign
from elastocal.measure.setup import Setup
from elastocal.measure.sources.instrument import Reading, Tracker
from elastocal.measure.sources.source import ErrorSource, SourceUnknown
from elastocal.model.frames import Frame
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.spatial.threads import one_thread
from elastocal.values import dataclass

NOISE = 3e-5
"""Standard deviation in m of one coordinate of one reading, where nobody states it."""
Noise = float | ErrorSource | Sequence[ErrorSource] | None
Markers = Mapping[str, Sequence[float]] | Sequence[str]
Read = Literal["position", "deflection"]


@checked("where")
def simulate(
    truth: Robot | str | PathLike[str],
    where: Plan | Campaign | Array | Sequence[Sequence[float]],
    *,
    noise: Noise = NOISE,
    rng: np.random.Generator | int = 1,
    read: Read | None = None,
    markers: Markers = (),
    wrench: Any = None,
    load_frame: str | None = None,
    stations: Mapping[str, Pose] | Pose | None = None,
    repeats: int = 1,
    outliers: int = 0,
    outlier_size: float = 2e-3,
) -> Campaign:
    """What instruments would read of ``truth``, a robot, its name or its file.

    ``where``: a plan, a campaign whose readings are not looked at, or controller values (N, n) in rad and m; the last
    under ``wrench`` (N, 6) at ``load_frame``, where plans and campaigns have loads of their own.  ``read`` is position
    or deflection: by default what the plan or the campaign is of, else position.  ``markers`` are frames of the robot,
    or places (m) in the tool's frame by name; by default those of the plan or campaign that are frames, else the tool.
    ``noise``: sd in m of one coordinate of one reading, as ``Reading(sd=...)``, sources of error, or None; a
    deflection is the difference of two readings and has sqrt(2) of it.  ``stations`` are poses of the robot's base in
    the instrument's frame: positions are given there, and a tracker without a place stands in its origin.
    ``outliers`` numbers are off by ``outlier_size`` (m).
    """
    truth = truth if isinstance(truth, Robot) else read_robot(truth)
    setting = _setting(truth, where, read, markers, wrench, load_frame, repeats)
    places = _stations(stations, setting.station)
    sources = _sources(noise)
    drawing = tuple(_standing(s, places, setting.station) for s in sources)
    if outliers < 0:
        raise RangeError.of("outliers", outliers, "give 0 or more")
    drawn = virtual_campaign(
        setting.robot, setting.measurement, drawing, generator("rng", rng), outliers=outliers, outlier_size=outlier_size
    ).campaign
    points = np.stack([drawn.readings[:, s : s + 3] for s in setting.measurement.setup.starts], axis=1)
    if setting.read == "position":
        turn, shift = (
            np.stack([getattr(places[s], part) for s in setting.station]) for part in ("rotation", "translation")
        )
        points = np.einsum("nij,nmj->nmi", turn, points) + shift[:, None]
    stated = tuple(_as_read(s, places[setting.station[0]], setting.read) for s in sources)
    return setting.campaign(points / LENGTHS[setting.length], noise if isinstance(noise, float) else stated or None)


@checked()
@one_thread
def assess(
    robot: Robot, campaign: Campaign | Plan, names: Sequence[str] | None = None, *, noise: Noise = None
) -> Assessment:
    """What readings at these poses tell of the parameters ``names`` (patterns; default all that they can sense).

    The readings themselves are not looked at: only where, under which load and with which errors they are taken.
    ``noise`` as of ``simulate``; by default what the campaign or the plan states.
    """
    setting = _setting(robot, campaign, None, (), None, None, 1)
    stated = campaign.noise if isinstance(campaign, Campaign) else campaign.task.measuring.sources
    kind = setting.measurement
    each = _sources(NOISE if noise is None and not stated else noise or stated)
    sources = tuple(_standing(s, {"1": Pose()}, ("1",) * kind.count) for s in each)
    measured = Measured(kind, np.zeros((kind.count, len(kind.rows))), sources)
    return assess_measured(setting.robot, measured, names)


@dataclass(frozen=True, eq=False)
class _Setting:
    """Where and what is read; the robot has the markers as frames."""

    robot: Robot
    measurement: Measurement
    read: Read
    station: tuple[str, ...]
    length: Any = "m"
    angle: Any = "rad"

    def campaign(self, points: Array, noise: Any) -> Campaign:
        setup = self.measurement.setup
        if isinstance(noise, float):
            noise /= LENGTHS[self.length]
        values: dict[str, Any] = {self.read: points}
        return Campaign(
            q=self.robot.controller.to_controller(setup.q) / factors(self.robot, self.length, self.angle),
            length=self.length, angle=self.angle,
            wrench=setup.wrenches if np.any(setup.wrenches) else None, load_frame=setup.load.frame,
            station=self.station, markers=tuple(m.frame for m in setup.markers), noise=noise, name="simulated",
            **values,
        )  # fmt: skip


def _setting(
    robot: Robot, where: Any, read: Read | None, markers: Markers, wrench: Any,
    load_frame: str | None, repeats: int,
) -> _Setting:  # fmt: skip
    if repeats < 1:
        raise RangeError(f"repeats is {repeats}; give at least 1")
    if isinstance(where, Plan | Campaign):
        _refuse_beside(where, wrench, load_frame)
    if isinstance(where, Plan):
        kind = where.task.measuring.readings(where.chosen)
        if kind.kind not in get_args(Read):
            raise UnsupportedError(f"a plan of {kind.kind} gives no positions and no deflections to simulate here")
        chosen = markers or tuple(m.frame for m in kind.setup.markers)
        return _of(robot, kind.setup.q, kind.setup.load, read or cast(Read, kind.kind), chosen, repeats)
    if isinstance(where, Campaign):
        push = np.zeros((1, 6)) if where.wrench is None else where.wrench
        known = read or ("position" if where.position is not None or where.deflection is None else "deflection")
        named: Markers = markers or tuple(m for m in where.markers if m in robot.tree.names)
        load = AppliedWrenches(load_frame or where.load_frame or robot.tool, push)
        own = _of(robot, where.joint_values(robot), load, known, named, repeats)
        station = tuple(np.repeat(where.station, repeats).tolist())
        return replace(own, station=station, length=where.length, angle=where.angle)
    q = controller_to_joints(robot, pose_table(where, robot), "m", "rad")
    push = np.zeros((1, 6)) if wrench is None else wrench_table(wrench, len(q))
    return _of(robot, q, AppliedWrenches(load_frame or robot.tool, push), read or "position", markers, repeats)


def _refuse_beside(where: Plan | Campaign, wrench: Any, load_frame: str | None) -> None:
    word = "plan" if isinstance(where, Plan) else "campaign"
    if wrench is not None:
        raise ConflictError(
            f"wrench: a {word} has loads of its own; leave it out, or give joint values in place of the {word}",
            parameter="wrench",
        )
    if isinstance(where, Plan) and load_frame is not None:
        raise ConflictError(
            "load_frame: a plan says where its loads act; leave it out", parameter="load_frame", value=load_frame
        )


def _of(
    robot: Robot, q: Array, load: AppliedWrenches, read: Read, markers: Markers,
    repeats: int,
) -> _Setting:  # fmt: skip
    if isinstance(markers, Mapping):
        added = [Frame(n, robot.tool, Pose(np.eye(3), vector("markers", xyz, 3))) for n, xyz in markers.items()]
        robot = replace(robot, tree=replace(robot.tree, frames=(*robot.tree.frames, *added)))
    names = ((markers,) if isinstance(markers, str) else tuple(markers)) or (robot.tool,)
    for name in names:
        robot.tree.frame(name)
    if read == "deflection" and not load.wrench.any():
        raise MissingError("no load, so nothing bends; give a wrench, or read positions")
    each = load if len(load.wrench) == 1 else replace(load, wrench=np.repeat(load.wrench, repeats, axis=0))
    setup = Setup(np.repeat(q, repeats, axis=0), each, tuple(Marker(n) for n in names))
    kind: Measurement = Deflection(setup) if read == "deflection" else Position(setup)
    return _Setting(robot, kind, read, ("1",) * setup.count)


def _stations(given: Mapping[str, Pose] | Pose | None, used: tuple[str, ...]) -> dict[str, Pose]:
    """Pose of the base in the frame of every station."""
    if given is None or isinstance(given, Pose):
        return dict.fromkeys(used, given or Pose())
    for name in used:
        if name not in given:
            raise UnknownNameError("station", name, given)
    return dict(given)


def _sources(noise: Noise) -> tuple[ErrorSource, ...]:
    if noise is None:
        return ()
    if isinstance(noise, int | float):
        return (Reading(sd=float(noise)),)
    return (noise,) if isinstance(noise, ErrorSource) else tuple(noise)


@dataclass(frozen=True, kw_only=True)
class _Carried(ErrorSource):
    """A tracker that is carried from place to place: ``each`` as it stands there, and the ``number`` of the one that
    takes every reading."""

    kind: ClassVar[str] = Tracker.kind
    each: tuple[Tracker, ...]
    number: tuple[int, ...]

    def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
        return self.each[0].unknowns(measurement, model)

    def columns(self, measurement: Measurement, model: Robot) -> Array:
        everywhere = np.stack([t.columns(measurement, model) for t in self.each])
        return np.asarray(everywhere[list(self.number), np.arange(measurement.count)])


def _standing(source: ErrorSource, places: Mapping[str, Pose], station: tuple[str, ...]) -> ErrorSource:
    """A tracker without a place stands in the origin of every station in turn; in base axes."""
    if not isinstance(source, Tracker) or source.at is not None:
        return source
    used = tuple(dict.fromkeys(station))
    each = tuple(replace(source, at=_vector(places[s].inverse().translation)) for s in used)
    return each[0] if len(each) == 1 else _Carried(each=each, number=tuple(used.index(s) for s in station))


def _as_read(source: ErrorSource, place: Pose, read: str) -> ErrorSource:
    """A source as a campaign states it: where a tracker stands is in the axes of its readings."""
    if not isinstance(source, Tracker):
        return source
    if read == "deflection":  # in base axes
        return source if source.at is not None else replace(source, at=_vector(place.inverse().translation))
    if source.at is None:
        return source
    return replace(source, at=_vector(place.rotation @ np.array(source.at) + place.translation))


def _vector(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z
