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
from typing import Any, Literal

import numpy as np

from elastocal.arguments import checked, generator, vector
from elastocal.calibration.campaign import LENGTHS, Campaign, controller_to_joints, factors, pose_table, wrench_table
from elastocal.design.assessing import Assessment
from elastocal.design.assessing import assess as assess_measured
from elastocal.design.result import Plan
from elastocal.errors import MissingError, RangeError, UnknownNameError, UnsupportedError
from elastocal.files.robot.read import read_robot
from elastocal.measure.deflection import Deflection
from elastocal.measure.kind import Measurement
from elastocal.measure.measured import Measured, virtual_campaign
from elastocal.measure.position import Position
from elastocal.measure.setup import Setup
from elastocal.measure.sources.reading import Reading
from elastocal.measure.sources.source import ErrorSource
from elastocal.measure.sources.tracker import Tracker
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


@checked("where")
def simulate(
    truth: Robot | str | PathLike[str],
    where: Plan | Campaign | Array | Sequence[Sequence[float]],
    *,
    noise: Noise = NOISE,
    rng: np.random.Generator | int = 1,
    read: Literal["position", "deflection"] | None = None,
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
    under ``wrench`` (N, 6) at ``load_frame``.  ``read`` is position or deflection: by default what the plan or the
    campaign is of, else position.  ``markers`` are frames of the robot, or places (m) in the tool's frame by name;
    by default those of the plan or campaign that are frames, else the tool.  ``noise``: sd in m of one coordinate of
    one reading, as ``Reading(sd=...)``, sources of error, or None; a deflection is the difference of two readings and
    has sqrt(2) of it.  ``stations`` are poses of the robot's base in the instrument's frame: positions are given
    there.  ``outliers`` numbers are off by ``outlier_size`` (m).
    """
    truth = truth if isinstance(truth, Robot) else read_robot(truth)
    setting = _setting(truth, where, read, markers, wrench, load_frame, repeats)
    places = _stations(stations, setting.station)
    sources = _sources(noise, places)
    if outliers < 0:
        raise RangeError.of("outliers", outliers, "give 0 or more")
    drawn = virtual_campaign(
        setting.robot, setting.measurement, sources, generator("rng", rng), outliers=outliers, outlier_size=outlier_size
    ).campaign
    points = np.stack([drawn.readings[:, s : s + 3] for s in setting.measurement.setup.starts], axis=1)
    if setting.read == "position":
        turn, shift = (
            np.stack([getattr(places[s], part) for s in setting.station]) for part in ("rotation", "translation")
        )
        points = np.einsum("nij,nmj->nmi", turn, points) + shift[:, None]
    return setting.campaign(points / LENGTHS[setting.length], noise if isinstance(noise, float) else sources or None)


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
    sources = _sources(NOISE if noise is None and not stated else noise or stated, {"1": Pose()})
    measured = Measured(kind, np.zeros((kind.count, len(kind.rows))), sources)
    return assess_measured(setting.robot, measured, names)


@dataclass(frozen=True, eq=False)
class _Setting:
    """Where and what is read; the robot has the markers as frames."""

    robot: Robot
    measurement: Measurement
    read: Literal["position", "deflection"]
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
    robot: Robot, where: Any, read: Literal["position", "deflection"] | None, markers: Markers, wrench: Any,
    load_frame: str | None, repeats: int,
) -> _Setting:  # fmt: skip
    if repeats < 1:
        raise RangeError(f"repeats is {repeats}; give at least 1")
    if isinstance(where, Plan):
        kind = where.task.measuring.readings(where.chosen)
        if not isinstance(kind, Position | Deflection):
            raise UnsupportedError(f"a plan of {kind.kind} gives no positions and no deflections to simulate here")
        chosen = markers or tuple(m.frame for m in kind.setup.markers)
        return _of(robot, kind.setup.q, kind.setup.load, read or _kind(kind), chosen, repeats)
    if isinstance(where, Campaign):
        push = np.zeros((1, 6)) if where.wrench is None else where.wrench
        known = read or ("position" if where.position is not None or where.deflection is None else "deflection")
        named: Markers = markers or tuple(m for m in where.markers if m in robot.tree.names)
        load = AppliedWrenches(load_frame or where.load_frame or robot.tool, push)
        own = _of(robot, where.joint_values(robot), load, known, named, repeats)
        station = tuple(np.repeat(where.station, repeats).tolist())
        return replace(own, station=station, length=where.length, angle=where.angle)
    q = controller_to_joints(robot, pose_table(where), "m", "rad")
    push = np.zeros((1, 6)) if wrench is None else wrench_table(wrench, len(q))
    return _of(robot, q, AppliedWrenches(load_frame or robot.tool, push), read or "position", markers, repeats)


def _kind(kind: Measurement) -> Literal["position", "deflection"]:
    return "deflection" if isinstance(kind, Deflection) else "position"


def _of(
    robot: Robot, q: Array, load: AppliedWrenches, read: Literal["position", "deflection"], markers: Markers,
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


def _sources(noise: Noise, places: Mapping[str, Pose]) -> tuple[ErrorSource, ...]:
    """A tracker without a place stands in the origin of the first station."""
    if noise is None:
        return ()
    if isinstance(noise, int | float):
        return (Reading(sd=float(noise)),)
    first = next(iter(places.values()))
    x, y, z = (float(v) for v in -first.rotation.T @ first.translation)
    each = (noise,) if isinstance(noise, ErrorSource) else tuple(noise)
    return tuple(replace(s, at=(x, y, z)) if isinstance(s, Tracker) and s.at is None else s for s in each)
