"""Priors of the model words: what is tied, what is a logarithm, and covariances of parameters that are."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from virtual import campaign, joint_values

from elastocal.calibration.fit import Fit
from elastocal.calibration.run import calibrate
from elastocal.calibration.words import automatic, check_words, with_words
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.gear_harmonics import GearHarmonics
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import deflection


def test_entries_of_links_share_factors() -> None:
    """0.5 for all links, 0.3 for each link, 0.12 for each entry, as independent factors."""
    _, wanted = with_words(read_robot("kuka-kr270"), ("compliance",))
    (links,) = [w for w in wanted if w.scale.name == "links"]
    assert links.log
    assert links.scale.fixed
    covariance = np.linalg.inv(links.precision)
    place = [n.rpartition(".")[0] for n in links.names]
    for i, a in enumerate(place):
        for j, b in enumerate(place):
            expected = 0.25 + 0.09 * (a == b) + 0.0144 * (i == j)
            assert covariance[i, j] == pytest.approx(expected, rel=1e-9)
    assert links.sizes == pytest.approx(np.full(len(place), np.sqrt(0.25 + 0.09 + 0.0144)))


def test_joints_foundation_and_spring_have_sds_of_their_own() -> None:
    _, wanted = with_words(read_robot("kuka-kr270"), ("compliance",))
    sds = {w.scale.name: w.scale.start for w in wanted if w.log and w.precision is None}
    assert sds == {"joint compliance": 0.5, "foundation compliance": 0.7, "gravity compensator": 0.3}


def test_bearings_are_sized_by_the_gears_of_their_own_joints() -> None:
    """Both axes across, in parts of the gear; of joints without one in the file, of the stiffest. Never below zero."""
    kr5 = read_robot("kuka-kr5")
    _, (bearings,) = with_words(kr5, ("bearings",))
    own = {p.name: p.value for p in kr5.parameters}
    assert bearings.positive
    assert not bearings.log
    assert len(bearings.names) == 12
    sizes = dict(zip(bearings.names, bearings.sizes.tolist(), strict=True))
    for joint in kr5.joints:
        gear = own.get(f"{joint}.k", 2e-6)
        assert [v for n, v in sizes.items() if n.startswith(f"{joint}.")] == pytest.approx([gear, gear])
    assert own["A3.k"] == 4e-6


def test_the_covariance_of_a_logarithm_is_that_of_its_parameter() -> None:
    """sd of theta = theta times sd of log theta, and the estimate keeps its sign."""
    robot = read_robot("kuka-kr270")
    rng = np.random.default_rng(5)
    q = joint_values(robot, 14, rng, 0.5) + np.array([0, -1.2, 1.4, 0, 0.6, 0])
    wrench = np.zeros((14, 6))
    wrench[:, :3] = rng.uniform(-2000, 2000, size=(14, 3))
    true = robot.with_parameters({"A2.k": 1.4 * robot.parameters.values[robot.parameters.index("A2.k")]})
    moved = deflection(true, q, [AppliedWrenches(robot.tool, wrench)]).translation
    moved = moved + 1e-5 * rng.normal(size=moved.shape)
    cal = calibrate(robot, campaign(q, robot, deflection=moved, wrench=wrench, noise=1e-5 / np.sqrt(2)), ["compliance"])
    fit: Fit = cal.ladder.chosen.fit
    sds = np.sqrt(np.diag(fit.posterior.covariance))[: len(fit.x)]
    logs = fit.task.logs
    assert logs.any()
    expected = np.where(logs, np.abs(fit.values) * sds, sds)
    stated = np.sqrt(np.diag(fit.covariance))[: len(fit.x)]
    assert np.all(stated >= expected * (1 - 1e-9))  # compliances may vary from state to state on top of it
    assert stated == pytest.approx(expected, rel=0.05)
    assert np.all(fit.values[logs] * fit.task.file_values[logs] > 0)
    softer = true.parameters.values[true.parameters.index("A2.k")]
    assert cal.parameters["A2.k"].value == pytest.approx(softer, rel=0.05)
    assert "lack-of-fit" not in {w.code for w in cal.warnings}  # an unnamed point is the tool, no frame of that name
    (said,) = [w for w in cal.warnings if w.code == "deflection-point"]
    assert said.data == {"markers": ["marker1"], "frame": "tool"}


def test_own_weight_and_compliance_are_not_both_tried() -> None:
    robot = read_robot("kuka-kr270")
    assert "weight" not in automatic(robot, loaded=True, placed=True, warms=False)
    assert "weight" in automatic(robot.nominal, loaded=False, placed=True, warms=False)
    assert automatic(robot, loaded=True, placed=False, warms=False) == ("compliance", "backlash")


def test_orders_of_harmonics_that_the_file_adds_are_sought() -> None:
    robot = read_robot("kuka-kr270").nominal.with_elements(GearHarmonics(joint="A2", orders=(2.0, 5.0)))
    names = {w.scale.name: w.names for w in with_words(robot, ("harmonics",))[1]}
    assert names["harmonics 5"] == ("A2.sin5", "A2.cos5")
    assert len(names["harmonics 2"]) == 12
    assert not any(n.startswith("A2.") for n in names["harmonics 1"])  # the file says which orders A2 has


def test_words_that_are_none_are_refused() -> None:
    assert check_words("auto") is None
    assert check_words("geometry") == ("geometry",)
    with refused("unknown-model-word", "geometri", nearest="geometry"):
        check_words(["geometri"])


def test_a_coupling_of_neighbours_is_found_as_a_parameter() -> None:
    """The drive of A5 turns A6 by half a per mille, which no other word explains."""
    rng = np.random.default_rng(6)
    robot = read_robot("kuka-kr270").nominal
    model, wanted = with_words(robot, ("geometry", "coupling"))
    (group,) = [w for w in wanted if w.scale.name == "coupling"]
    assert len(group.names) == 10
    values = {n: 3e-4 * rng.normal() for w in wanted if w is not group for n in w.names} | {"A6.per_A5": 5e-4}
    true = model.with_parameters(values)
    q = joint_values(robot, 40, rng)
    at = kinematics(true, q)
    spots = np.array([[0.1, 0.0, 0.1], [0.0, 0.2, 0.0]])
    points = at.position[:, None] + np.einsum("nij,mj->nmi", at.rotation, spots)
    data = campaign(q, robot, position=points + 1e-5 * rng.normal(size=points.shape))
    found = calibrate(robot, data, ["geometry", "coupling"])
    assert found.words == ("geometry", "coupling")
    estimate = found.parameters["A6.per_A5"]
    assert abs(estimate.value - 5e-4) < 4 * estimate.sd
    assert estimate.sd < 1e-4
    assert "coupling" in automatic(robot, loaded=False, placed=True, warms=False)
