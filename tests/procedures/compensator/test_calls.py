"""The procedure as calls of the library: one result from arrays, with a short repr, errors that carry data."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from elastocal.errors import UnknownNameError
from elastocal.files.robot.read import read_robot
from elastocal.procedures.compensator import identify
from elastocal.procedures.compensator.arcs import MarkerError, fit_arcs
from elastocal.procedures.compensator.geometry import CompensatorGeometry
from elastocal.procedures.compensator.known_angles import WrongUnitError
from elastocal.procedures.compensator.marker_design import plan_arcs


@pytest.fixture
def points(table_1):
    return {"P1": table_1.p1.copy(), "P01": table_1.p01.copy(), "P02": table_1.p02.copy()}


def test_arcs_of_table_1_in_one_call(points, table_1):
    arcs = fit_arcs(points, table_1.q, known=("P1",))
    assert (arcs.outliers, arcs.known[0].marker, arcs.free.markers) == (0, "P1", ("P01", "P02"))
    assert arcs.known[0].fit.radius == pytest.approx(0.1847195, abs=5e-8)
    assert len(repr(arcs)) < 200
    with pytest.raises(FrozenInstanceError):
        arcs.noise = 1.0


def test_residuals_are_those_of_the_circles(points, table_1):
    points["P1"][2, 1] -= 9e-3
    arcs = fit_arcs(points, table_1.q, known=("P1",))
    of_p1, of_p01 = arcs.residuals("P1"), arcs.residuals("P01")
    fit, free = arcs.known[0].fit, arcs.free.fit
    away = np.linalg.norm(points["P1"] - fit.centre, axis=1) - fit.radius
    np.testing.assert_allclose(of_p1.radial, away, atol=1e-14)
    assert of_p1.used.tolist() == [True, True, False, True, True, True]
    np.testing.assert_allclose(
        of_p01.radial, np.linalg.norm(points["P01"] - free.centre, axis=1) - free.radii[0], atol=1e-14
    )
    assert np.isnan(of_p01.along).all()
    # along the arc and across it are the whole residual of a point at a known angle
    whole = np.linalg.norm(points["P1"] - fit.at(table_1.q), axis=1)
    kept = of_p1.used
    np.testing.assert_allclose(np.hypot(of_p1.radial, of_p1.along)[kept], whole[kept], rtol=1e-3)


def test_the_whole_procedure_in_one_call(points, table_1):
    robot = read_robot("kuka-kr270")
    found = identify(
        points, table_1.q, moving="P1", pivots=("P01", "P02"), joint="A2", robot=robot, plan=6
    )  # fmt: skip
    assert [m.name for m in found.models] == ["common axis", "common axis, geometric", "common rotation", "pointing"]
    assert found.geometry.a_x == pytest.approx(0.6859934, abs=1e-7)
    assert (found.element.k_c, found.element.mode) == (0.144e-6, "stiffness_only")
    assert found.element.L == found.geometry.L
    assert found.plan.best("common rotation").expected.a_x < found.geometry.sd["a_x"]
    assert all(len(repr(value)) < 250 for value in (found, found.spring, found.plan))
    assert len(found.to_frame()) == 4
    bare = identify(points, table_1.q, moving="P1", pivots=("P01",), joint="A2")
    assert (bare.element, bare.spring, bare.plan) == (None, None, None)


def test_a_plan_from_a_described_geometry():
    (spring,) = (e for e in read_robot("kuka-kr270").elements if e.kind == "gravity_compensator")
    geometry = CompensatorGeometry.described(spring, 1)
    plan = plan_arcs(geometry, 6, tuple(np.radians([-140, -5])), [0.19, 0.21], 15e-6)
    assert plan.inner_angles == 1
    for model in ("concentric", "common rotation"):
        by_balance, exact = (r.expected for r in plan.rows if r.model == model)
        assert sum(v**2 for v in vars(exact).values()) <= sum(v**2 for v in vars(by_balance).values())


def test_errors_carry_markers_and_reason(points, table_1):
    with pytest.raises(UnknownNameError) as unknown:
        fit_arcs(points, table_1.q, known=("P7",))
    assert tuple(unknown.value.allowed) == ("P1", "P01", "P02")
    with pytest.raises(MarkerError) as degrees:
        fit_arcs(points, np.degrees(table_1.q), known=("P1",))
    assert degrees.value.markers == ("P1",)
    assert isinstance(degrees.value.reason, WrongUnitError)
    assert degrees.value.reason.factor == pytest.approx(np.pi / 180)
    points["P01"][1:] = np.nan
    with pytest.raises(MarkerError) as few:
        fit_arcs(points, table_1.q, known=("P1",))
    assert few.value.markers == ("P01",)
