"""Contacts against a constrained minimum of the energy, the planar arm's own equations, and virtual work."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from oracle.contacts import DISCS, TABLE_2, ball, bar, face, least_energy, planar_contact, planar_inverse
from oracle.mechanics import compliance, constants, generalised_forces, poses
from oracle.refusals import refused
from oracle.robots import configurations, random_robot

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.gripper_backlash import GripperBacklash
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.model.statics.contact import ContactStatus, contact
from elastocal.model.surfaces.cylinder import Cylinder
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.plane import Plane
from elastocal.model.surfaces.sphere import Sphere
from elastocal.model.surfaces.surface import Touches
from elastocal.spatial.pose import Pose

DIRECTIONS = np.array([[0.3, -0.8, 0.6], [-0.7, 0.2, 0.6], [0.1, 0.9, -0.3]])


def objects(point, direction, depth):
    """Object and its own distance function, of every kind, that the point is ``depth`` inside of."""
    n = direction / np.linalg.norm(direction)
    axis = np.cross(n, [0.2, 0.3, 0.9])
    centre = point - (0.1 - depth) * n
    foot = point + depth * n
    return {
        "sphere": (Sphere(centre=tuple(centre), radius=0.1), ball(centre, 0.1)),
        "cylinder": (Cylinder(point=tuple(centre), axis=tuple(axis), radius=0.1), bar(centre, axis, 0.1)),
        "plane": (Plane(point=tuple(foot), normal=tuple(n)), face(foot, n)),
    }


def rest_tip(model, q):
    """Tip of the arm without contact: least energy far from any object."""
    return least_energy(model, q, model.tool, lambda x: 1.0 + 0 * x[0])[1]


@pytest.mark.parametrize(
    ("seed", "kind"), [(1, "sphere"), (2, "sphere"), (0, "cylinder"), (1, "cylinder"), (1, "plane"), (2, "plane")]
)
def test_the_energy_is_least_with_the_tip_not_inside(seed, kind):
    """Joints, links and weights bend; minimised by SLSQP over all elastic coordinates."""
    model = random_robot(seed, 3, 1, k=2e-5)
    q = configurations(model, 1, seed)
    surface, phi = objects(rest_tip(model, q[0]), DIRECTIONS[seed], 2e-3)[kind]
    found = contact(model, q, Touches.one(model.tool, surface, 1))
    assert found.status[0] == ContactStatus.CONTACT
    theta, tip, _ = least_energy(model, q[0], model.tool, phi)
    free = rest_tip(model, q[0])
    assert np.linalg.norm(tip - free) > 1.9e-3
    np.testing.assert_allclose(found.point[0], tip, rtol=0, atol=2e-8)
    np.testing.assert_allclose(found.theta[0], theta, rtol=0, atol=1e-7)
    assert abs(phi(found.point[0])) < 1e-14
    force = generalised_forces(model, q[0], found.theta[0], [(model.tool, [*found.force[0], 0, 0, 0], False)])
    np.testing.assert_allclose(found.theta[0], constants(model) + compliance(model) @ force, rtol=0, atol=1e-12)
    assert found.size[0] > 10


@pytest.mark.parametrize("seed", range(3))
def test_with_gaps_the_energy_is_least_too(seed):
    """Play costs no energy: the minimum is free to move in the gaps and shoves them to the far side."""
    base = random_robot(seed, 3, 1, k=3e-5, weight=False)
    gaps = (JointBacklash(joint=base.joints[0], gap=2e-4), JointBacklash(joint=base.joints[2], gap=1e-4))
    model = base.with_elements(*gaps, GripperBacklash(frame="tip", gap=(3e-4, 1e-4, 2e-4)))
    q = configurations(model, 1, seed)
    surface, phi = objects(rest_tip(base, q[0]), DIRECTIONS[seed], 2e-3)["sphere"]
    found = contact(model, q, Touches.one("tip", surface, 1))
    without = contact(base, q, Touches.one("tip", surface, 1))
    assert found.status[0] == ContactStatus.CONTACT
    _, tip, _ = least_energy(model, q[0], "tip", phi)
    np.testing.assert_allclose(found.point[0], tip, rtol=0, atol=3e-8)
    assert 0 < found.size[0] < 0.97 * without.size[0]


def test_play_that_can_be_pushed_clear_transmits_no_force():
    base = random_robot(1, 3, 1, k=3e-5, weight=False)
    model = base.with_elements(GripperBacklash(frame="tip", gap=5e-4))
    q = configurations(model, 1, 1)
    free = rest_tip(base, q[0])
    shallow, phi = objects(free, DIRECTIONS[0], 4e-4)["plane"]
    found = contact(model, q, Touches.one("tip", shallow, 1))
    assert found.status[0] == ContactStatus.NO_CONTACT
    assert found.size[0] == 0
    assert found.gap[0] == pytest.approx(1e-4, rel=1e-6)
    _, _, minimum = least_energy(model, q[0], "tip", phi)
    assert minimum.fun < 1e-9
    assert contact(base, q, Touches.one("tip", shallow, 1)).size[0] > 5


def test_the_force_grows_from_zero_as_the_tip_is_driven_in():
    base = random_robot(1, 3, 1, k=3e-5, weight=False)
    model = base.with_elements(GripperBacklash(frame="tip", gap=5e-4))
    q = configurations(model, 1, 1)
    free = rest_tip(base, q[0])
    depths = [-1e-3, 4.9e-4, 5.000001e-4, 5.1e-4, 7e-4, 1e-3]
    surfaces = [objects(free, DIRECTIONS[0], d)["plane"][0] for d in depths]
    named = tuple(Plane(name=f"p{i}", point=s.point, normal=s.normal) for i, s in enumerate(surfaces))
    found = contact(model, np.repeat(q, 6, axis=0), Touches("tip", named, np.arange(6)))
    assert list(found.size[:2]) == [0, 0]
    assert 0 < found.size[2] < 1e-3
    stiffness = (found.size[5] - found.size[4]) / 3e-4
    assert found.size[3] == pytest.approx(1e-5 * stiffness, rel=1e-2)


def scara(values=TABLE_2):
    return read_robot("scara-ruggeri").with_parameters(list(values))


def disc_contacts(values=TABLE_2, depth=1e-3, count=12):
    """The published discs, ``count`` contacts around each, the rigid tip driven in by ``depth``."""
    discs = tuple(Disc(name=f"disc{i}", centre=c, radius=r) for i, (c, r) in enumerate(DISCS))
    rows = [(i, 0.1 + 2 * np.pi * j / count) for i in range(3) for j in range(count)]
    at = [np.array(DISCS[i][0]) + (DISCS[i][1] - depth) * np.array([np.cos(a), np.sin(a)]) for i, a in rows]
    q = np.array([planar_inverse(values, p) for p in at])
    return q, Touches("gripper", discs, [i for i, _ in rows]), [a for _, a in rows]


def test_the_scara_on_its_discs_by_its_own_equations():
    """All twelve parameters of Table 2, 36 contacts, against two angles and two numbers per contact."""
    q, touches, angles = disc_contacts()
    found = contact(scara(), q, touches)
    assert found.counts() == {"contact": 36}
    for i in range(36):
        centre, radius = DISCS[touches.which[i]]
        angle, size = planar_contact(np.array(TABLE_2), q[i], centre, radius, (angles[i], 50.0))
        expected = size * np.array([np.cos(angle), np.sin(angle), 0.0])
        np.testing.assert_allclose(found.force[i], expected, rtol=0, atol=2e-8)
        assert abs(angle - angles[i]) > 1e-6  # the contact slid from where it was aimed
    assert found.size.min() > 30


def test_both_compliance_and_play_push_the_gripper_back():
    """With rigid joints only the gripper gives way, by p F + g along the reaction."""
    q, touches, _ = disc_contacts(np.zeros(12))
    model = read_robot("scara-ruggeri").with_parameters(
        dict(zip(scara().parameters.names, [0] * 6 + [1e-5, 0, 0, 9e-5, 0, 0], strict=True))
    )
    found = contact(model, q, touches)
    rigid = kinematics(model, q).position
    back = np.einsum("ni,ni->n", found.point - rigid, found.normal)
    np.testing.assert_allclose(back, 1e-5 * found.size + 9e-5, rtol=1e-9)
    assert found.size.min() > 10


ARMS = {"fanuc-m710ic50": (0.2, 0.3, -0.4, 0.5, 0.9, 0.3), "kuka-kr5": (0.3, -0.6, 0.8, 0.4, 0.7, -0.2)}


@pytest.mark.parametrize("kind", ["sphere", "cylinder", "plane"])
@pytest.mark.parametrize("name", ARMS)
def test_six_joints_touch_balls_bars_and_planes(name, kind):
    """Equilibrium by virtual work, the tip on the surface, the force along its normal; weights included."""
    base = read_robot(name)
    springs = [d.frame for c in base.coordinates if np.any(c.compliance()) for d in c.dofs()]
    added: list = [JointCompliance(joint=j, k=5e-6) for j in base.joints if j not in springs]
    if not any(e.kind == "link_mass" for e in base.elements):
        added.append(LinkMass(frame=base.joints[2], mass=20.0, moment=(4.0, 0.5, 1.0)))
    model = base.with_elements(*added)
    q = np.array([ARMS[name]]) + 0.1 * np.arange(3)[:, None]
    n = [d / np.linalg.norm(d) for d in DIRECTIONS]
    tips = [rest_tip(model, row) for row in q]
    pairs = [objects(tips[i], n[i], 1.5e-3)[kind] for i in range(3)]
    named = tuple(type(s)(**{**vars(s), "name": f"o{i}"}) for i, (s, _) in enumerate(pairs))
    found = contact(model, q, Touches(model.tool, named, [0, 1, 2]))
    assert found.counts() == {"contact": 3}
    for i in range(3):
        tip = poses(model, q[i], found.theta[i])[model.tool][:3, 3]
        np.testing.assert_allclose(found.point[i], tip, rtol=0, atol=1e-13)
        assert abs(pairs[i][1](tip)) < 1e-12
        assert found.size[i] > 20
        load = [(model.tool, [*found.force[i], 0, 0, 0], False)]
        force = generalised_forces(model, q[i], found.theta[i], load)
        np.testing.assert_allclose(found.theta[i], constants(model) + compliance(model) @ force, rtol=0, atol=1e-12)
        joints = [j for j, d in enumerate(model.chain.dofs) if d.axis == "joint"]
        np.testing.assert_allclose(found.torque[i], -force[joints], rtol=1e-9, atol=1e-9)
        step = 1e-6
        slope = [(pairs[i][1](tip + step * e) - pairs[i][1](tip - step * e)) / (2 * step) for e in np.eye(3)]
        np.testing.assert_allclose(found.force[i], found.size[i] * np.array(slope), rtol=1e-6, atol=1e-6)


def lever(*elements, gravity=(0.0, 0.0, 0.0), k=1e-5):
    """One turning joint about z and an arm of 1 m along x."""
    tree = FrameTree(
        (Frame("j", joint=JointMotion("revolute", (0, 0, 1))), Frame("tip", "j", Pose(translation=(1.0, 0, 0))))
    )
    springs = (JointCompliance(joint="j", k=k),) if k else ()
    return Robot("lever", tree, "tip", (*springs, *elements), np.array(gravity))


def wall(height):
    """Solid above y = height: the lever runs into it turning upwards."""
    return Plane(name="wall", point=(0, height, 0), normal=(0, -1, 0))


@pytest.mark.parametrize("gap", [0.0, 2e-3])
def test_a_lever_against_a_wall_in_closed_form(gap):
    """The tip rests at y = h: theta = asin(h) - q, torque (theta + gap)/k on an arm of cos."""
    q, h, k = 0.02, 0.01, 1e-5
    model = lever(*([JointBacklash(joint="j", gap=gap)] if gap else []))
    found = contact(model, [[q]], Touches.one("tip", wall(h), 1))
    turned = np.arcsin(h) - q
    size = -(turned + gap) / k / np.cos(np.arcsin(h))
    assert found.size[0] == pytest.approx(size, rel=1e-10)
    np.testing.assert_allclose(found.force[0], [0, -size, 0], rtol=1e-10, atol=1e-12)
    assert found.torque[0, 0] == pytest.approx(-(turned + gap) / k, rel=1e-10)


def test_without_contact_the_force_is_zero_and_the_gap_is_stated():
    found = contact(lever(), [[0.005], [0.02]], Touches.one("tip", wall(0.01), 2))
    assert list(found.status) == [ContactStatus.NO_CONTACT, ContactStatus.CONTACT]
    np.testing.assert_array_equal(found.force[0], 0)
    assert found.gap[0] == pytest.approx(0.01 - np.sin(0.005), rel=1e-12)
    assert found.counts() == {"contact": 1, "no_contact": 1}


def test_a_force_through_a_joint_leaves_its_gap_undetermined():
    """The disc's normal points at joint 1: pushed either way by its gap, the arm would rest there."""
    values = np.array(TABLE_2)
    model = scara()
    centre = np.array([0.3, 0.2])
    away = centre / np.linalg.norm(centre)
    model = model.with_parameters({"base.x": 0.0, "base.y": 0.0, "J2.gap": 0.0, "J2.k": 0.0})
    values[:2] = 0
    disc = Disc(centre=tuple(centre), radius=0.05)
    tip = centre - (0.05 - 5e-4) * away
    aside = centre + 0.0495 * np.array([-away[1], away[0]])
    q = [planar_inverse(values, tip), planar_inverse(values, aside)]
    found = contact(model, q, Touches.one("gripper", disc, 2))
    assert list(found.status) == [ContactStatus.UNDETERMINED_BACKLASH, ContactStatus.CONTACT]
    assert np.isnan(found.force[0]).all()
    assert np.isnan(found.size[0])
    assert contact(model.with_parameters({"J1.gap": 0.0}), q, Touches.one("gripper", disc, 2)).known.all()


def test_a_threshold_widens_what_is_undetermined():
    q, h, k, gap = 0.02, 0.01, 1e-5, 2e-3
    torque = (q - np.arcsin(h) - gap) / k
    for threshold, status in ((0.99, ContactStatus.CONTACT), (1.01, ContactStatus.UNDETERMINED_BACKLASH)):
        model = lever(JointBacklash(joint="j", gap=gap, threshold=threshold * torque))
        assert contact(model, [[q]], Touches.one("tip", wall(h), 1)).status[0] == status


def test_a_gap_held_between_weight_and_contact_floats():
    """The weight turns the lever up into the wall, which is met in the middle of the gap: no side is right."""
    gap, mass, g = 5e-3, 2.0, 10.0
    weight = LinkMass(frame="j", mass=mass, moment=(mass * 0.5, 0, 0))
    model = lever(JointBacklash(joint="j", gap=gap), weight, gravity=(0.0, g, 0.0))
    sag = 1e-5 * mass * g * 0.5
    free = contact(model, [[0.0]], Touches.one("tip", wall(0.1), 1))
    assert free.point[0, 1] == pytest.approx(np.sin(gap + sag), rel=1e-4)
    heights = np.array([gap + sag + 1e-4, gap + 0.5 * sag, 0.0, -gap - 1e-3])
    walls = tuple(Plane(name=f"w{i}", point=(0, h, 0), normal=(0, -1, 0)) for i, h in enumerate(heights))
    found = contact(model, np.zeros((4, 1)), Touches("tip", walls, np.arange(4)))
    expected = [
        ContactStatus.NO_CONTACT,
        ContactStatus.CONTACT,
        ContactStatus.UNDETERMINED_BACKLASH,
        ContactStatus.CONTACT,
    ]
    assert list(found.status) == expected
    assert found.size[1] == pytest.approx(mass * g * 0.25, rel=0.02)
    assert found.size[3] == pytest.approx(mass * g * 0.5 + 1e-3 / 1e-5, rel=0.01)


def test_an_arm_too_soft_for_so_small_a_ball_slips():
    """A slide presses a lever of long thin give onto a ball: stiffness across below lambda / r."""
    tree = FrameTree(
        (
            Frame("push", joint=JointMotion("prismatic", (0, 0, -1))),
            Frame("side", "push", joint=JointMotion("prismatic", (1, 0, 0))),
            Frame("tip", "side"),
        )
    )
    springs = (JointCompliance(joint="push", k=1e-5), JointCompliance(joint="side", k=1e-3))
    model = Robot("press", tree, "tip", springs, np.zeros(3))
    ball_ = Sphere(centre=(0, 0, -0.02), radius=0.02)
    q = np.array([[1e-4, 0.0], [1e-3, 0.0]])  # 10 N and 100 N against a stability limit of r / k_side = 20 N
    found = contact(model, q, Touches.one("tip", ball_, 2))
    assert list(found.status) == [ContactStatus.CONTACT, ContactStatus.SLIPS]
    assert found.size[0] == pytest.approx(10.0, rel=1e-6)


@pytest.mark.parametrize("share", [0.46, 0.5])
def test_a_normal_that_turns_far_is_followed(share):
    """A soft arm, driven into a small ball by half its radius, rests 0.7 rad round it: least energy by SLSQP."""
    model, q = random_robot(2, 3, 1, k=8.24e-6, weight=False), np.array([[0.41, 0.72, 0.45]])
    n, radius = np.array([-0.86, 0.5, -0.08]) / np.linalg.norm([-0.86, 0.5, -0.08]), 9.1e-3
    centre = kinematics(model, q).position[0] - (1 - share) * radius * n
    found = contact(model, q, Touches.one(model.tool, Sphere(centre=tuple(centre), radius=radius), 1))
    assert found.status[0] == ContactStatus.CONTACT
    normal = (least_energy(model, q[0], model.tool, ball(centre, radius))[1] - centre) / radius
    assert np.arccos(n @ normal) > 0.7
    np.testing.assert_allclose(found.force[0] / found.size[0], normal, rtol=0, atol=1e-6)


def test_a_tip_beyond_the_middle_of_the_object_penetrates():
    base = random_robot(1, 3, 1, k=2e-6, weight=False)
    q = configurations(base, 1, 1)
    tip = kinematics(base, q).position[0]
    for off, status in ((0.0, "PENETRATES"), (0.9e-2, "PENETRATES"), (1.1e-2, "CONTACT")):
        ball_ = Sphere(centre=tuple(tip - [0, 0, off]), radius=2e-2)
        rod = Cylinder(point=tuple(tip - [0, 0, off]), axis=(1, 0, 0), radius=2e-2)
        for surface in (ball_, rod):
            found = contact(base, q, Touches.one(base.tool, surface, 1))
            assert ContactStatus(int(found.status[0])).name == status
            assert np.isnan(found.force).all() == (status == "PENETRATES")


def test_a_rigid_arm_has_no_contact_force():
    found = contact(lever(k=0), [[0.02]], Touches.one("tip", wall(0.01), 1))
    assert found.status[0] == ContactStatus.NOT_CONVERGED
    assert np.isnan(found.size[0])
    assert ContactStatus(int(found.status[0])).text.startswith("not converged")


def test_a_warm_start_changes_nothing_but_the_steps():
    q, touches, _ = disc_contacts()
    cold = contact(scara(), q, touches)
    other = scara(np.array(TABLE_2) * 1.001)
    warm, again = contact(other, q, touches, cold), contact(other, q, touches)
    np.testing.assert_allclose(warm.force, again.force, rtol=0, atol=1e-9)
    assert warm.steps.max() < again.steps.max()


def test_a_warm_start_from_a_lost_contact_starts_anew():
    q, touches, _ = disc_contacts(depth=2e-4)
    none = contact(scara(), q + 0.02 * np.array([[1.0, -1.0]]), touches)
    assert none.counts().get("no_contact", 0) > 3
    warm, cold = contact(scara(), q, touches, none), contact(scara(), q, touches)
    np.testing.assert_array_equal(warm.status, cold.status)
    np.testing.assert_allclose(warm.force, cold.force, rtol=0, atol=1e-9)


def test_chunks_and_neighbours_change_no_bit():
    q, touches, _ = disc_contacts()
    whole = contact(scara(), q, touches)
    parts = contact(scara(), q, touches, chunk=7)
    np.testing.assert_array_equal(whole.force, parts.force)
    np.testing.assert_array_equal(whole.theta, parts.theta)
    backwards = contact(scara(), q[::-1], touches.rows(slice(None, None, -1)))
    np.testing.assert_array_equal(whole.force, backwards.force[::-1])


def test_memory_is_that_of_one_chunk_and_of_what_is_returned():
    q, touches, _ = disc_contacts()
    model = scara()

    def beyond_the_answer(count: int) -> float:
        rows = np.arange(count) % len(q)
        many, objects = q[rows], touches.rows(rows)
        tracemalloc.start()
        found = contact(model, many, objects, chunk=200)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak - 2 * sum(v.nbytes for v in vars(found).values() if isinstance(v, np.ndarray))

    beyond_the_answer(400)
    assert beyond_the_answer(4000) < 1.5 * beyond_the_answer(400)


def test_contacts_and_configurations_must_match():
    with refused("shape", (2, 1)):
        contact(lever(), [[0.0]], Touches.one("tip", wall(0.1), 2))
    with refused("unknown-frame", "tp", nearest="tip"):
        contact(lever(), [[0.0]], Touches.one("tp", wall(0.1), 1))


def test_a_contact_is_determined_exactly_where_one_pattern_of_sides_is_right():
    """Every pattern tried with the gaps as fixed offsets: right where each torque pushes towards its offset."""
    gap, gaps = 1e-4, ("J1", "J2", "J3")
    base = read_robot("fanuc-m710ic50").with_elements(LinkMass(frame="J3", mass=50.0, moment=(5.0, 0.5, 3.0)))
    model = base.with_elements(*(JointBacklash(joint=j, gap=gap) for j in gaps))
    rng = np.random.default_rng(3)
    low, high = np.array([m.limits for m in model.motions]).T / 2
    q = rng.uniform(low, high, (150, 6))
    n = rng.normal(size=(150, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    feet = kinematics(model, q).position + rng.uniform(2e-4, 3e-3, (150, 1)) * n
    planes = tuple(Plane(name=f"p{i}", point=tuple(feet[i]), normal=tuple(n[i])) for i in range(150))
    touches = Touches("tool", planes, np.arange(150))
    found = contact(model, q, touches)
    right = np.zeros(150, dtype=int)
    for sides in itertools.product((-1.0, 1.0), repeat=3):
        shifted = base.with_parameters({f"{j}.offset": gap * s for j, s in zip(gaps, sides, strict=True)})
        other = contact(shifted, q, touches)
        right += (other.status == ContactStatus.CONTACT) & np.all(np.sign(-other.torque[:, :3]) == sides, axis=1)
    touching = found.status != ContactStatus.NO_CONTACT
    np.testing.assert_array_equal((found.status == ContactStatus.CONTACT)[touching], (right == 1)[touching])
    assert set(found.status) <= {0, 1, 2}
    assert np.sum(found.status == ContactStatus.UNDETERMINED_BACKLASH) >= 2
