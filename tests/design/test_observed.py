"""Rows of candidates from measurements: by hand, with nuisances, after earlier campaigns."""

from __future__ import annotations

import numpy as np
from design.cell_desk import arm, cylindrical
from oracle.refusals import refused

from elastocal.design.method import Measuring
from elastocal.design.observed import earlier_information, independent, observed, taken_together
from elastocal.measure.measured import Measured
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.load import LoadSize
from elastocal.measure.sources.places import Registration
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.reduction.error_budget import expected

TOOL = (Marker("tool"),)
NAMES = ("q1.k", "q2.k", "q3.k")


def measured(sources, statics="linear", count=6):
    rng = np.random.default_rng(4)
    q = np.column_stack([rng.uniform(0, 1, count), rng.uniform(-2, 2, count), rng.uniform(0.3, 1, count)])
    load = AppliedWrenches("tool", np.column_stack([rng.normal(0, 500, (count, 3)), np.zeros((count, 3))]))
    return Measuring("deflection", TOOL, sources, statics).at(q, load)


def test_rows_of_a_cylindrical_robot_by_hand() -> None:
    """Along z: k1 fz; along the arm: k3 f_r; across it: k2 r^2 f_t; each over sqrt(2) of the noise of a reading."""
    sd = 2e-5
    kind = measured((Reading(sd=sd),))
    rows = observed(kind, (Reading(sd=sd),), cylindrical(), NAMES, repeats=3).blocks
    q, f = kind.setup.q, kind.setup.wrenches[:, :3]
    c, s = np.cos(q[:, 1]), np.sin(q[:, 1])
    radial, across = f[:, 0] * c + f[:, 1] * s, -f[:, 0] * s + f[:, 1] * c
    want = np.zeros((len(q), 3, 3))
    want[:, 2, 0] = f[:, 2]
    want[:, :2, 1] = (q[:, 2] ** 2 * across)[:, None] * np.column_stack([-s, c])
    want[:, :2, 2] = radial[:, None] * np.column_stack([c, s])
    np.testing.assert_allclose(rows, want * np.sqrt(3 / 2) / sd, rtol=1e-9, atol=1e-3)
    assert np.abs(want).max() > 100


def test_accuracy_is_that_of_assess_with_every_source() -> None:
    sources = (Reading(sd=1e-5), LoadSize(sd=0.01, every="campaign"), LoadSize(sd=0.02), Registration(turn_sd=1e-3))
    kind = measured(sources, "loaded", 8)
    found = observed(kind, sources, cylindrical(), NAMES)
    assert found.names == (*NAMES, "load size", "registration rx", "registration ry", "registration rz")
    assert found.nuisance == (3, 4, 5, 6)
    sd = np.sqrt(np.diag(np.linalg.inv(found.information(range(8)))))
    want = expected(cylindrical(), Measured(kind, kind.predict(cylindrical()), sources), NAMES).expectations
    by_name = {e.name: e.sd for e in want}
    np.testing.assert_allclose(sd[:3], [by_name[n] for n in NAMES], rtol=2e-3)
    assert found.widened(np.ones((2, 3, 3))).shape == (2, 3, 7)


def test_earlier_readings_add_up_and_forget_their_nuisances() -> None:
    sources = (Reading(sd=1e-5), LoadSize(sd=0.01, every="campaign"))
    kind = measured(sources)
    campaign = Measured(kind, kind.predict(cylindrical()), sources)
    one = observed(kind, sources, cylindrical(), NAMES)
    whole = one.information(range(6))
    schur = whole[:3, :3] - np.outer(whole[:3, 3], whole[3, :3]) / whole[3, 3]
    np.testing.assert_allclose(earlier_information(campaign, cylindrical(), NAMES), schur, rtol=1e-8)
    half = campaign.leaving_out([(i, r) for i in range(3, 6) for r in range(3)])
    less = earlier_information(half, cylindrical(), NAMES)
    assert np.all(np.linalg.eigvalsh(schur - less) > 0)


def test_parameters_that_act_only_together_are_represented_by_joints() -> None:
    model = arm()
    q = np.array([[0.2, 0.0], [1.0, 0.0]])  # the elbow is straight: q1 and q2 always turn alike
    load = AppliedWrenches("tool", np.array([[10.0, 20.0, 0, 0, 0, 0]] * 2))
    kind = Measuring("deflection", TOOL, (Reading(sd=1e-5),), "linear").at(q, load)
    assert len(independent(kind, (Reading(sd=1e-5),), model, ("q1.k", "q2.k"))) == 1
    bent = Measuring("deflection", TOOL, (Reading(sd=1e-5),), "linear").at(q + np.array([[0, 0.5], [0, 1]]), load)
    assert independent(bent, (Reading(sd=1e-5),), model, ("q1.k", "q2.k")) == ("q1.k", "q2.k")


def test_positions_are_planned_by_the_same_code() -> None:
    measuring = Measuring("position", TOOL, (Reading(sd=1e-5),))
    q = np.array([[0.2, 0.3, 0.5], [0.7, -1.0, 0.9]])
    kind = measuring.at(q, AppliedWrenches("tool", np.full((2, 6), 100.0)))
    rows = observed(kind, measuring.sources, cylindrical(), NAMES).blocks
    np.testing.assert_allclose(rows[:, 2, 0], 100 / 1e-5, rtol=1e-6)
    assert np.isfinite(kind.predict(cylindrical())).all()
    with refused("unknown-kind-of-measurement", "deflexion", nearest="deflection"):
        Measuring("deflexion", TOOL)


def test_readings_of_one_sweep_are_one_candidate() -> None:
    sources = (Reading(sd=1e-5), LoadSize(sd=0.01, every="campaign"))
    found = observed(measured(sources), sources, cylindrical(), NAMES)
    sweeps = taken_together(found, np.array([1, 0, 1, 1, 0, 2]))
    for i, rows in enumerate(([1, 4], [0, 2, 3], [5])):
        want = found.information(rows)
        np.testing.assert_allclose(sweeps.information([i]), want, rtol=1e-9, atol=1e-9 * np.abs(want).max())
    with refused("shape", 6):
        taken_together(found, np.array([0, 0, 0, 2, 2, 2]))


def test_torque_sweeps_are_planned_by_the_same_code() -> None:
    """Mass moments of the upper arm turn A2 with g (mx cos q + mz sin q): a longer sweep tells them apart better."""
    from elastocal.files.robot.read import read_robot
    from elastocal.measure.joints import JointTorque
    from elastocal.measure.kind import Measurement
    from elastocal.measure.sources.source import ErrorSource, SourceUnknown
    from elastocal.model.robot import Robot

    class Scatter(ErrorSource):
        def unknowns(self, measurement: Measurement, model: Robot) -> tuple[SourceUnknown, ...]:
            return tuple(SourceUnknown(r.name, r.unit, 1.0) for r in measurement.rows)

        def columns(self, measurement: Measurement, model: Robot) -> np.ndarray:
            r = len(measurement.rows)
            return np.broadcast_to(np.eye(r), (measurement.count, r, r))

    model = read_robot("kuka-kr270")
    spans = (5, 20, 60)
    angles = np.radians([-90 + np.linspace(-s, s, 9) for s in spans])
    q = np.array([[0, a, np.pi / 2, 0, 0, 0] for a in angles.reshape(-1)])
    rows = observed(JointTorque.of(model, q), (Scatter(),), model, ["A2.mx", "A2.mz"])
    sweeps = taken_together(rows, np.repeat(np.arange(3), 9))
    for i, a in enumerate(angles):
        felt = 9.81 * np.column_stack([np.cos(a), np.sin(a)])
        np.testing.assert_allclose(sweeps.information([i]), felt.T @ felt, rtol=1e-6, atol=1e-6)
    gains = [np.linalg.slogdet(sweeps.information([i]))[1] for i in range(3)]
    assert gains[0] < gains[1] < gains[2]
