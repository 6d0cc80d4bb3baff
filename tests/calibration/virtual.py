"""Virtual robots whose truth is known: errors drawn from priors, stations and markers anywhere, noise of all kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.words import with_words
from elastocal.files.robot.read import read_robot, robot_from_text
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium

SIZES = {"length": 4e-4, "offset": 1e-3, "tilt": 4e-4, "weight": 4e-4, "lateral": 1e-4, "harmonics": 1e-4}
"""Sd of the true parameters of every group, in m and rad."""


@dataclass(frozen=True, eq=False)
class Truth:
    """A robot as it is, and where instruments and markers really are."""

    robot: Robot
    nominal: Robot
    markers: np.ndarray
    stations: tuple[tuple[Rotation, np.ndarray], ...]
    tool_turn: Rotation = field(default_factory=Rotation.identity)

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Joint values in SI to tool positions (N, 3) and rotations (N, 3, 3) in base axes."""
        position, turn = frame_pose(self.robot, q, equilibrium(self.robot, q), self.robot.tool)
        return position.T, np.moveaxis(turn, -1, 0)

    def points(self, q: np.ndarray, station: int = 0) -> np.ndarray:
        """(N, markers, 3) as an instrument without error reads them."""
        position, turn = self.pose(q)
        base = position[:, None] + np.einsum("nij,mj->nmi", turn, self.markers)
        rotation, shift = self.stations[station]
        return base @ rotation.as_matrix().T + shift

    def orientation(self, q: np.ndarray, station: int = 0) -> np.ndarray:
        return (self.stations[station][0] * Rotation.from_matrix(self.pose(q)[1]) * self.tool_turn).as_matrix()


def true_robot(
    nominal: Robot,
    rng: np.random.Generator,
    words: Sequence[str] = ("geometry", "weight", "harmonics"),
    *,
    markers: int = 1,
    stations: int = 1,
    size: float = 1.0,
) -> Truth:
    """Parameters drawn about the nominal values; own weight by one size for every joint, as its prior says."""
    model, wanted = with_words(nominal, tuple(words))
    values = {}
    for group in wanted:
        sd = size * SIZES[group.scale.name.split()[0]]
        values |= dict(zip(group.names, (sd * group.sizes * rng.normal(size=len(group.names))).tolist(), strict=True))
    places = tuple((Rotation.random(random_state=rng), rng.uniform(-4, 4, size=3)) for _ in range(stations))
    spots = rng.uniform(-0.2, 0.2, size=(markers, 3))
    return Truth(model.with_parameters(values), nominal, spots, places, Rotation.random(random_state=rng))


def random_arm(seed: int) -> Robot:
    """Six revolute joints with links and axes that follow no pattern."""
    rng = np.random.default_rng(seed)
    lines = ["format: elastocal-robot/1", "name: random-arm", "source: random numbers", "status: assumed", "joints:"]
    for i in range(6):
        xyz = rng.uniform(-400, 400, size=3).round(1).tolist()
        rpy = rng.uniform(-90, 90, size=3).round(2).tolist()
        base = "parent: base, " * (i == 0)
        lines.append(f"  - {{name: J{i + 1}, type: revolute, {base}xyz_mm: {xyz}, rpy_deg: {rpy}, axis: [0, 0, 1]}}")
    lines += ["  - {name: flange, type: fixed, xyz_mm: [50, 0, 100]}", "tool: flange"]
    return robot_from_text("\n".join(lines), "random-arm.yaml")


def joint_values(robot: Robot, count: int, rng: np.random.Generator, span: float = 1.2) -> np.ndarray:
    """Anywhere within +- span rad (or half of it in m)."""
    reach = np.array([span if m.kind == "revolute" else span / 2 for m in robot.motions])
    return rng.uniform(-reach, reach, size=(count, robot.n))


def shipped(name: str) -> Robot:
    """Its nominal geometry: nothing is known of masses and compliances."""
    return read_robot(name).nominal


def read_positions(
    truth: Truth,
    q: np.ndarray,
    rng: np.random.Generator,
    noise: float = 3e-5,
    joint_noise: float = 0.0,
    station: int = 0,
) -> np.ndarray:
    """Points with noise of the instrument, and of the joints where asked for."""
    reached = q + joint_noise * rng.normal(size=q.shape)
    return truth.points(reached, station) + noise * rng.normal(size=(len(q), len(truth.markers), 3))


def campaign(q: np.ndarray, robot: Robot, **readings: object) -> Campaign:
    """Joint values in SI to what the controller says, in rad and m."""
    return Campaign(q=robot.controller.to_controller(q), length="m", angle="rad", **readings)
