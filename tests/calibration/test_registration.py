"""Programs corrected by a calibration of geometry and weight: what the simulated true robot makes of the new digits."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import virtual as v
from oracle.draws import draws
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import elastocal as ec
from elastocal.calibration.calibration import Calibration
from elastocal.compensation.contributions import contributions
from elastocal.compensation.correction import Correction
from elastocal.model.kinematics import kinematics
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium

BASE = np.array([1.75, -0.08, 0.8])
TOOL = (np.array([0.0, 0.1, 0.2]), Rotation.identity())
TARGETS = ((0, 0, 50, 0, 0, 180), (0, 0, 0, 0, 0, 180), (400, 0, 0, 0, 20, 180), (100, 500, 300, 30, 0, 180))
KRL = "\n".join(
    [
        "DEF square( )",
        "$BASE={X 1750,Y -80,Z 800,A 0,B 0,C 0}",
        "$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}",
        "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}",
        *("LIN {{X {:g},Y {:g},Z {:g},A {:g},B {:g},C {:g}}}".format(*t) for t in TARGETS),
        "END",
        "",
    ]
)


@pytest.fixture(scope="module")
def truth() -> v.Truth:
    return v.true_robot(
        v.shipped("kuka-kr270"), np.random.default_rng(3), ("geometry", "weight", "harmonics"), markers=4
    )


@pytest.fixture(scope="module")
def calibration(truth: v.Truth) -> ec.Calibration:
    rng = np.random.default_rng(4)
    q = v.joint_values(truth.nominal, 60, rng, 0.9) + np.array([0, -1.2, 1.4, 0, 0.6, 0])
    readings = v.campaign(q, truth.nominal, position=v.read_positions(truth, q, rng, noise=2e-5))
    return ec.calibrate(truth.nominal, readings, ("geometry", "weight", "harmonics"), outliers=False)


def flange_pose(target: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Where the flange must be, in base axes, for a KRL frame X Y Z A B C."""
    turn = Rotation.from_euler("ZYX", target[3:], degrees=True)
    hand = turn * TOOL[1].inv()
    return BASE + 1e-3 * np.array(target[:3]) - hand.apply(TOOL[0]), hand.as_matrix()


def controller(robot, target: tuple[float, ...], near: np.ndarray) -> np.ndarray:
    """Joint values by which the nominal robot's flange gets there, found by a solver of its own."""
    place, turn = flange_pose(target)

    def off(q: np.ndarray) -> np.ndarray:
        at = kinematics(robot, q[None], "flange")
        return np.concatenate([at.position[0] - place, (at.rotation[0] - turn).ravel()])

    found = least_squares(off, near, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.abs(found.fun).max() < 1e-9
    return found.x


def new_targets(files: dict[str, bytes]) -> list[tuple[float, ...]]:
    (text,) = (data.decode() for data in files.values())
    number = r"(-?[\d.]+(?:E-?\d+)?)"
    rows = re.findall(r"LIN \{" + ",".join(rf"\s*{a} {number}" for a in "XYZABC"), text)
    return [tuple(map(float, row)) for row in rows]


def test_the_true_robot_goes_where_the_program_says(truth: v.Truth) -> None:
    """With the truth itself in place of a calibration nothing but the rounding of digits is left."""
    done = ec.compensate(truth.robot, ec.read_program(KRL, "krl"))
    sent = new_targets(done.files)
    assert len(sent) == len(TARGETS)
    for wanted, told, near in zip(TARGETS, sent, done.commands.nominal[1:], strict=True):
        q = controller(truth.nominal, told, near)
        place, turn = flange_pose(wanted)
        there, turned = frame_pose(truth.robot, q[None], equilibrium(truth.robot, q[None]), "flange")
        np.testing.assert_allclose(there[:, 0], place, atol=1e-6)
        np.testing.assert_allclose(turned[:, :, 0], turn, atol=3e-6)
        assert np.linalg.norm(1e-3 * (np.array(told[:3]) - wanted[:3])) > 2e-4


def test_the_instrument_sees_markers_where_the_corrected_program_wants_them(truth, calibration) -> None:
    """The calibration knows the robot by its instrument: there the error is that of its predictions."""
    done = ec.compensate(calibration, ec.read_program(KRL, "krl"))
    placing = calibration.placing
    before, after, widths = [], [], []
    for wanted, told, near in zip(TARGETS, new_targets(done.files), done.commands.nominal[1:], strict=True):
        old, q = (controller(truth.nominal, t, near)[None] for t in (wanted, told))
        at = kinematics(truth.nominal, old)
        points = at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, placing.markers)
        hoped = points @ placing.turn[0].T + placing.shift[0]
        before.append(truth.points(old) - hoped)
        after.append(truth.points(q) - hoped)
        widths.append(calibration.predict_joints(q).half_width)
    off, width = np.concatenate(after), np.concatenate(widths)
    assert np.linalg.norm(np.concatenate(before), axis=2).mean() > 4e-4
    assert np.linalg.norm(off, axis=2).mean() < 8e-5
    assert (np.abs(off) < 1.5 * width).mean() > 0.8
    predicted = done.predicted[1:]
    assert 0.3 < np.sqrt(np.mean(np.sum(off**2, axis=2))) / np.sqrt(np.mean(predicted**2)) < 2.5
    (parts,) = [f.data for f in done.verdict if f.code == "contributions"]
    sizes = {"weight", "geometry", "joint_errors"}
    assert set(parts) == sizes | {f"{word}_95" for word in sizes} | {"not_certain", "cancel", "total"}
    assert "geometry" not in parts["not_certain"]
    _certainty_by_draws(done)
    added = sum(part.position for part in done.contributions.named.values())
    np.testing.assert_allclose(added, done.before.position, atol=1e-12)


def _certainty_by_draws(done: Correction) -> None:
    """Standard uncertainties of the parts against parts of robots drawn from the covariance."""
    known, work = done.known, done.job
    model, rng, count = work.placed.model, np.random.default_rng(4), draws(50, 400)
    values = np.array([model.parameters.values[model.parameters.index(n)] for n in known.names])
    moved = rng.multivariate_normal(np.zeros(len(values)), known.covariance, size=count, method="eigh")
    drawn: dict[str, list[np.ndarray]] = {}
    for change in moved:
        other = model.with_parameters(dict(zip(known.names, (values + change).tolist(), strict=True)))
        parts = contributions(replace(work, placed=replace(work.placed, model=other)), done.commands.nominal)
        for word, part in {**parts.named, "total": parts.total}.items():
            drawn.setdefault(word, []).append(part.position)
    for word in ("weight", "joint errors", "geometry", "total"):
        sd = np.sqrt(np.sum(np.var(drawn[word], axis=0), axis=1))
        assert np.nanmax(sd) > 1e-6
        np.testing.assert_allclose(done.contributions.sd[word], sd, rtol=3 / np.sqrt(2 * count))


def marker_slopes(calibration: Calibration, flange: str) -> np.ndarray:
    """(poses, markers, 3, unknowns) of markers in base axes by independent unit errors, carried to a frame."""
    robot, names, covariance = calibration.registered(flange)
    q = v.joint_values(calibration.nominal, 5, np.random.default_rng(8), 0.5) + np.array([0, -1.2, 1.4, 0, 0.6, 0])
    values = np.array([robot.parameters.values[robot.parameters.index(n)] for n in names])
    place = calibration.placing.markers

    def points(change: np.ndarray) -> np.ndarray:
        moved = robot.with_parameters(dict(zip(names, (values + change).tolist(), strict=True)))
        at, turn = frame_pose(moved, q, equilibrium(moved, q), moved.tool)
        return at.T[:, None] + np.einsum("ijn,mj->nmi", turn, place)

    step = 1e-5
    slopes = [(points(step * e) - points(-step * e)) / (2 * step) for e in np.eye(len(names))]
    return np.stack(slopes, axis=-1) @ np.linalg.cholesky(covariance + 1e-22 * np.eye(len(names)))


def test_registration_is_the_error_of_a_predicted_reading(calibration: Calibration) -> None:
    """Base, robot and flange together move a marker by what stations, robot and markers do."""
    q = v.joint_values(calibration.nominal, 5, np.random.default_rng(8), 0.5) + np.array([0, -1.2, 1.4, 0, 0.6, 0])
    turned = np.einsum("ij,nmjk->nmik", calibration.placing.turn[0], marker_slopes(calibration, "flange"))
    sd = np.sqrt((turned**2).sum(axis=3) + calibration.discrepancy**2)
    whole = calibration.predict_joints(q).half_width / 2
    np.testing.assert_allclose(sd, whole, rtol=0.35)  # markers that do not move as one body are the difference


def test_any_frame_of_the_hand_carries_the_same_errors(calibration: Calibration) -> None:
    """The last joint's frame has errors of its own, the flange has none: one rigid body all the same."""
    last = calibration.robot.joints[-1]
    assert f"{last}.x" in calibration.names
    assert "flange.x" not in calibration.names
    flange, joint = (np.sqrt((marker_slopes(calibration, f) ** 2).sum(axis=3)) for f in ("flange", last))
    np.testing.assert_allclose(joint, flange, rtol=1e-3)  # turned by errors of a few 0.1 mrad


def test_a_flange_that_was_named_is_not_said_to_be_guessed(truth: v.Truth) -> None:
    last = truth.robot.joints[-1]
    program = ec.read_program(KRL, "krl")
    done = ec.compensate(truth.robot, program, flange=last)
    (note,) = (w for w in done.warnings if w.code == "frames")
    assert note.data["flange"] == last
    assert "no frame flange" not in note.text
