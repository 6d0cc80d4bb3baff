"""Derivatives of contacts against central differences of contacts solved anew."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.contacts import DISCS, TABLE_2, planar_inverse
from oracle.robots import configurations, random_robot

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.loads.gravity_compensator import GravityCompensator
from elastocal.model.statics.contact import ContactStatus, contact
from elastocal.model.statics.contact_observation import contact_observation
from elastocal.model.surfaces.cylinder import Cylinder
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.plane import Plane
from elastocal.model.surfaces.sphere import Sphere
from elastocal.model.surfaces.surface import Touches


def scara_plan():
    model = read_robot("scara-ruggeri").with_parameters(list(TABLE_2))
    discs = tuple(Disc(name=f"disc{i}", centre=c, radius=r) for i, (c, r) in enumerate(DISCS))
    rows = [(i, 0.1 + 2 * np.pi * j / 7) for i in range(3) for j in range(7)]
    tips = [np.array(DISCS[i][0]) + (DISCS[i][1] - 1e-3) * np.array([np.cos(a), np.sin(a)]) for i, a in rows]
    q = np.array([planar_inverse(TABLE_2, t) for t in tips])
    return model, q, Touches("gripper", discs, [i for i, _ in rows])


def spatial_plan():
    """A random arm with links, weights, a spring, an offset and gaps, on a ball, a bar and a face that lean."""
    base = random_robot(1, 3, 1, k=2e-5)
    turning = [m for m in base.joints if base.tree.joint(m).kind == "revolute"]
    model = base.with_elements(
        GravityCompensator(joint=turning[0], a_x=0.35, a_y=0.12, L=0.18, phi0=1.1, k_c=2e-5, s_0=0.25),
        JointOffset(joint=turning[0], offset=0.01),
        JointBacklash(joint=base.joints[2], gap=1e-4),
        GripperBacklash(frame="tip", gap=(2e-4, 1e-4, 3e-4)),
    )
    q = configurations(model, 3, 5)
    n = np.array([[0.3, -0.8, 0.6], [-0.7, 0.2, 0.6], [0.1, 0.9, -0.3]])
    n /= np.linalg.norm(n, axis=1)[:, None]
    far = tuple(Plane(name=f"far{i}", point=(0, 0, 0), normal=tuple(n[i])) for i in range(3))
    tips = contact(model, q, Touches("tip", tuple(_lowered(p) for p in far), [0, 1, 2])).point
    inside = 3e-3
    middle = tips - (0.1 - inside) * n
    face, along = tips[2] + inside * n[2], np.cross(n[1], [1, 2, 3])
    surfaces = (
        Sphere(name="ball", centre=tuple(middle[0]), radius=0.1),
        Cylinder(name="bar", point=tuple(middle[1]), axis=tuple(along), radius=0.1, tilt=(1e-3, 2e-3)),
        Plane(name="face", point=tuple(face), normal=tuple(n[2]), tilt=(1e-3, -1e-3)),
    )
    return model, q, Touches("tip", surfaces, [0, 1, 2])


def _lowered(plane):
    """Out of the arm's reach, to read where the free tip is."""
    return Plane(name=plane.name, point=tuple(-100 * np.array(plane.normal)), normal=plane.normal)


PLANS = {"scara": scara_plan, "spatial": spatial_plan}
plans = pytest.mark.parametrize("plan", PLANS)


def compare(slopes, column, solved, step):
    """Against the difference of contacts solved anew; forces are known to some 1e-11 N."""
    above, below = solved(step), solved(-step)
    for found, high, low, noise in (
        (slopes.force, above.force, below.force, 2e-11),
        (slopes.point, above.point, below.point, 2e-15),
    ):
        expected = (high - low) / (2 * step)
        assert np.all(np.isfinite(expected))
        size = np.abs(expected).max()
        np.testing.assert_allclose(found[:, :, column], expected, rtol=1e-4, atol=3e-6 * size + noise / step)


@plans
def test_by_the_parameters_of_the_robot(plan):
    model, q, touches = PLANS[plan]()
    observed = contact_observation(model, q, touches)
    assert observed.state.counts() == {"contact": len(q)}
    assert observed.by_parameters.names == model.parameters.names
    scales = np.abs(observed.by_parameters.force).max(axis=(0, 1))
    few = ("k11", "k26", "k44", "k56")  # of the many numbers of a link
    for i, p in enumerate(model.parameters):
        if p.kind == "link_compliance" and len(q) == 3 and not p.name.endswith(few):
            continue
        step = 1e-3 / scales[i] if scales[i] else p.scale  # about a millinewton: well above rounding
        step = min(step, 0.02 * abs(p.value)) if p.value else step

        def solved(change, p=p):
            return contact(model.with_parameters({p.name: p.value + change}), q, touches)

        compare(observed.by_parameters, i, solved, step)
    assert np.sum(scales > 0) >= 12


@plans
def test_by_the_place_and_size_of_the_objects(plan):
    model, q, touches = PLANS[plan]()
    observed = contact_observation(model, q, touches, [model.parameters.names[0]])
    values = [p.value for p in touches.parameters]
    for i, p in enumerate(touches.parameters):

        def solved(change, i=i):
            return contact(model, q, touches.with_values([v + change * (i == j) for j, v in enumerate(values)]))

        compare(observed.by_objects, i, solved, 1e-6)
        assert observed.by_objects.names[i] == p.name
        assert np.abs(observed.by_objects.force[:, :, i]).max() > 1


@plans
def test_by_the_joint_values(plan):
    model, q, touches = PLANS[plan]()
    observed = contact_observation(model, q, touches, [model.parameters.names[0]])
    for i in range(model.n):
        compare(observed.by_joints, i, lambda h, i=i: contact(model, q + h * np.eye(model.n)[i], touches), 1e-6)


def test_a_chosen_parameter_is_the_same_column():
    model, q, touches = scara_plan()
    whole = contact_observation(model, q, touches)
    one = contact_observation(model, q, touches, ["J2.k"], whole.state)
    assert one.by_parameters.names == ("J2.k",)
    np.testing.assert_array_equal(one.by_parameters.force[:, :, 0], whole.by_parameters.force[:, :, 8])


def test_without_contact_nothing_moves_the_force_and_unknown_is_unknown():
    model, q, touches = scara_plan()
    away = q + 0.05
    state = contact(model, away, touches)
    clear = state.status == ContactStatus.NO_CONTACT
    assert clear.sum() > 3
    slopes = contact_observation(model, away, touches, None, state).by_parameters
    assert np.all(slopes.force[clear] == 0)
    assert np.isnan(slopes.point[clear]).all()
    lost = ~state.known
    assert lost.sum() > 0
    assert np.isnan(slopes.force[lost]).all()


def test_pressing_all_over_with_one_force_hides_the_gripper():
    """002: with 40 N everywhere only 40 N p_ee + g_ee is seen; the two columns are then proportional."""
    model, q, touches = scara_plan()
    for _ in range(12):  # drive each contact to 40 N
        observed = contact_observation(model, q, touches)
        missing = 40.0 - observed.state.size
        along = np.einsum("nip,ni->np", observed.by_joints.force, observed.state.normal)
        q = q + along * (missing / np.sum(along**2, axis=1))[:, None]
    columns = contact_observation(model, q, touches).by_parameters.force.reshape(-1, 12)
    assert np.abs(contact(model, q, touches).size - 40).max() < 1e-9
    np.testing.assert_allclose(columns[:, 6], 40.0 * columns[:, 9], rtol=1e-7, atol=1e-7 * np.abs(columns[:, 6]).max())
    unit = columns / np.linalg.norm(columns, axis=0)
    singular = np.linalg.svd(unit, compute_uv=False)
    assert singular[-1] < 1e-8
    assert singular[-2] > 1e-3
