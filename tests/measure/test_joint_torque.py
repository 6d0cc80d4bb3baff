"""Joint torques and friction: what a real change does to the readings, and weight told apart from friction."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from oracle.robots import configurations, random_robot

from elastocal.files.robot.read import read_robot
from elastocal.measure.joints import JointTorque
from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured, virtual_campaign
from elastocal.measure.setup import Setup
from elastocal.measure.sources.arm import Encoder
from elastocal.measure.sources.friction import Friction
from elastocal.measure.sources.instrument import Reading
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker
from elastocal.reduction.fit import estimate

KR5 = read_robot("kuka-kr5")


def weighty():
    model = random_robot(2, 4, 1).without("link_mass", "payload")
    return model.with_elements(
        *(LinkMass(frame=j, mass=2.0 + i, moment=(0.2, -0.1 * i, 0.3)) for i, j in enumerate(model.joints))
    )


@pytest.mark.parametrize("sense", [1, -1])
def test_readings_and_rows(sense):
    q = configurations(KR5, 3, 1)
    kind = JointTorque.of(KR5, q, sense=sense)
    assert (kind.count, [r.unit for r in kind.rows]) == (3, ["N m"] * 6)
    assert kind.rows[1].name == "A2.torque"
    assert kind.groups == KR5.joints
    # joint 5 at A4 = 0 by eq. (15) of Hayat et al. 2013
    one = JointTorque.of(KR5, np.radians([[90, -45, 30, 0, -90, 0]]), sense=sense).predict(KR5)[0, 4]
    a = np.radians(-45 + 30 - 90)
    assert one == pytest.approx(sense * (-11.47 * np.cos(a) + 4.90 * np.sin(a)), abs=1e-3)


def test_names_are_masses_unless_asked():
    kind = JointTorque.of(KR5, configurations(KR5, 1, 0))
    names = kind.names(KR5, None)
    assert len(names) == 4 * 6
    assert all(
        n.split(".")[1] in {"m", "mx", "my", "mz", "payload_m", "payload_mx", "payload_my", "payload_mz"} for n in names
    )
    assert kind.names(KR5, ["A2.*"]) == ("A2.m", "A2.mx", "A2.my", "A2.mz")
    free = JointTorque.of(KR5, kind.q, masses_alone=False)
    assert free.names(KR5, ["A2.*"]) == ("A2.m", "A2.mx", "A2.my", "A2.mz", "A2.offset")  # no compliance, no play
    assert (kind.affine, free.affine) == (True, False)


def test_joint_errors_move_readings_like_other_joint_values():
    model = weighty()
    q = configurations(model, 2, 3)
    kind = JointTorque.of(model, q, sense=-1)
    got = kind.by_joints(model)
    for j in range(model.n):
        step = 1e-6 * np.eye(model.n)[j]
        ends = [JointTorque.of(model, q + s * step, sense=-1).predict(model) for s in (1, -1)]
        np.testing.assert_allclose(got[:, :, j], (ends[0] - ends[1]) / 2e-6, atol=1e-4)
    assert np.abs(got).max() > 1
    assert Encoder(sd=1e-4, slide_sd=1e-4).covariance(kind, model).shape == (2, model.n, model.n)


def two_ways(model, joint, count=40):
    """One joint up and down again at two speeds, the others still."""
    q = np.repeat(configurations(model, 1, 5), 4 * count, axis=0)
    v = np.zeros_like(q)
    path = np.linspace(-1.0, 1.0, count)
    q[:, joint] = np.concatenate([path, path[::-1], path, path[::-1]])
    v[:, joint] = np.repeat([0.1, -0.1, 0.3, -0.3], count)
    return q, v


@pytest.mark.parametrize("sense", [1, -1])
def test_friction_moves_the_reading_of_its_joint_alone(sense):
    model = weighty()
    q, v = two_ways(model, 1)
    kind = JointTorque.of(model, q, v, sense=sense)
    source = Friction(zero=True)
    names = [u.name for u in source.unknowns(kind, model)]
    joint = model.joints[1]
    assert names == [f"{model.joints[0]} zero", f"{joint} coulomb", f"{joint} viscous", f"{joint} zero",
                     f"{model.joints[2]} zero", f"{model.joints[3]} zero"]  # fmt: skip
    columns = source.columns(kind, model)
    np.testing.assert_array_equal(columns[:, 1, 1], sense * np.sign(v[:, 1]))
    np.testing.assert_array_equal(columns[:, 1, 2], sense * v[:, 1])
    assert np.all(columns[:, 1, 3] == 1)
    assert not columns[:, [0, 2, 3], 1].any()


def test_two_way_motion_tells_friction_from_weight():
    q, v = two_ways(KR5, 2)
    kind = JointTorque.of(KR5, q, v)
    sources = (Reading(torque_sd=0.05), Friction(zero=True))
    made = virtual_campaign(KR5, kind, sources[:1], np.random.default_rng(1)).campaign.readings
    made[:, 2] += 3.0 * np.sign(v[:, 2]) + 7.0 * v[:, 2] + 0.4
    start = KR5.with_parameters({"A3.mx": 0.0, "A3.mz": 0.0})
    names = ["A3.mx", "A3.mz", "A3 coulomb", "A3 viscous", "A3 zero"]
    fit = estimate(start, Measured(kind, made, sources), names)
    truth = {p.name: p.value for p in KR5.parameters}
    errors = fit.values - [truth["A3.mx"], truth["A3.mz"], 3.0, 7.0, 0.4]
    assert np.all(np.abs(errors) < 4 * fit.sd)
    assert fit.sd[2] < 0.02
    assert truth["A3.mx"] > 30 * fit.sd[0]


def test_what_does_not_fit_is_refused():
    q = configurations(KR5, 2, 0)
    with refused("range", 2):
        JointTorque.of(KR5, q, sense=2)
    with refused("shape", ((2, 5), 6)):
        JointTorque.of(KR5, q[:, :5])
    with refused("shape", ((1, 6), (2, 6))):
        JointTorque.of(KR5, q, q[:1])
    with refused("no-time"):
        Friction().unknowns(JointTorque.of(KR5, q), KR5)
    marked = Deflection(Setup(q, AppliedWrenches("tool", np.ones((1, 6))), (Marker("tool"),)))
    with refused("unsupported", "deflection"):
        Friction().unknowns(marked, KR5)
    with refused("missing", ("A1.torque", "N m", "torque_sd_Nm")):
        Reading(sd=1e-5).unknowns(JointTorque.of(KR5, q), KR5)
    assert [u.sd for u in Reading(torque_sd=(1.0, 2, 3, 4, 5, 6)).unknowns(JointTorque.of(KR5, q), KR5)] == [
        1,
        2,
        3,
        4,
        5,
        6,
    ]


def test_blocks_and_repeats():
    q = configurations(KR5, 2, 0)[[0, 1, 0]]
    v = np.zeros_like(q)
    assert list(JointTorque.of(KR5, q).pose) == [0, 1, 2]
    assert list(JointTorque.of(KR5, q, block=np.array([4, 4, 5])).pose) == [4, 4, 5]
    first, second, third = JointTorque.of(KR5, q, v).state
    assert first == third != second
    v[2, 0] = 0.1
    assert len(set(JointTorque.of(KR5, q, v).state)) == 3
