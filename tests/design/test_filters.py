"""Every filter on configurations whose frames are known by hand, and against dense points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from design.cell_desk import arm, candidates_of
from oracle.refusals import refused

from elastocal.design.candidates import Poses
from elastocal.design.cell import Cell, Link, links_of
from elastocal.design.feasibility.collision import Obstacles, SelfCollision, blurred, collision_pairs
from elastocal.design.feasibility.filter import LoadPossible, PayloadLimit, Removed, filter_kinds, screened
from elastocal.design.feasibility.places import Approach, Incidence, JointLimits, LineOfSight, ToolBox
from elastocal.design.loading import Actuator, Anchored, Hanging
from elastocal.design.obstacles import BoxObstacle, Capsule, Floor, SphereObstacle
from elastocal.errors import NumberError
from elastocal.files.robot.read import read_robot
from elastocal.model.loads.payload import Payload

HALF = np.pi / 2
EMPTY = Cell()
BODY = Cell((Link("base", "elbow", 0.1), Link("elbow", "tool", 0.1)))


def passes(each, q, cell=EMPTY, *loads, model=None):
    return each.passes(candidates_of(model or arm(), q, *loads), cell).tolist()


def test_every_filter_is_tested_here() -> None:
    assert set(filter_kinds()) == {
        "approach", "incidence", "joint_limits", "line_of_sight", "load", "obstacles", "payload", "self_collision",
        "tool_box",
    }  # fmt: skip


def test_joint_limits_with_margin_and_narrower_axes() -> None:
    q = [[2.95, 0], [2.5, 0], [0, -2.95], [0, -3.1]]
    assert passes(JointLimits(), q) == [True, True, True, False]
    assert passes(JointLimits(margin=0.05), q) == [False, True, False, False]
    assert passes(JointLimits(axes={"q1": (-1.0, 2.7)}), q) == [False, True, True, False]
    with refused("unknown-axis", "q3", nearest="q2"):
        passes(JointLimits(axes={"q3": (0.0, 1.0)}), q)


def test_the_tool_stays_in_its_box() -> None:
    q = [[0, 0], [HALF, 0], [0, HALF]]  # tool at (1.5, 0), (0, 1.5), (1, 0.5)
    assert passes(ToolBox(low=(0.9, -1, -1), high=(2, 1, 1)), q) == [True, False, True]
    assert passes(ToolBox(radius=1.2), q) == [True, True, False]
    assert passes(ToolBox(high=(0.5, 2, 1), frame="elbow"), q) == [False, True, False]


def test_the_tool_points_where_it_should() -> None:
    q = [[0, 0.1], [0, 0.3], [HALF, -HALF]]
    assert passes(Approach(axis=(2, 0, 0), towards=(1, 0, 0), within=0.2), q) == [True, False, True]


def test_obstacles_hit_the_hand_or_the_arm() -> None:
    q = [[0, 0], [0, HALF], [HALF, 0]]
    ball = SphereObstacle(centre=(1.5, 0.25, 0), radius=0.1)  # 0.15 m beside the hand of the first pose
    assert passes(Obstacles(), q, Cell(BODY.links, (ball,))) == [True, True, True]
    assert passes(Obstacles(clearance=0.06), q, Cell(BODY.links, (ball,))) == [False, True, True]
    post = Capsule(start=(0.0, 0.7, -1), end=(0.0, 0.7, 1), radius=0.05)
    assert passes(Obstacles(), q, Cell(BODY.links, (post,))) == [True, True, False]
    with refused("no-body"):
        passes(Obstacles(), q, Cell((), (post,)))


def test_obstacles_against_dense_points() -> None:
    """The links of a real arm cut into points, each compared with the shape by its definition."""
    model = read_robot("kuka-kr270")
    rng = np.random.default_rng(5)
    q = rng.uniform([m.limits[0] for m in model.motions], [m.limits[1] for m in model.motions], (300, 6))
    box = BoxObstacle(centre=(1.4, 0.3, 1.2), size=(0.6, 0.9, 0.5), rpy=(0.2, -0.4, 0.9))
    ball, post = (
        SphereObstacle(centre=(-1, 1, 1.5), radius=0.3),
        Capsule(start=(0, -1.5, 0), end=(0.3, -1.5, 3), radius=0.2),
    )
    cell = Cell(links_of(model, 0.12), (box, ball, post))
    found = Obstacles().passes(candidates_of(model, q), cell)
    poses, t = Poses(model, q), np.linspace(0, 1, 400)[:, None, None]
    gap = np.full(len(q), np.inf)
    from elastocal.spatial.rotation import rpy_matrix

    for link in cell.links:
        a, b = poses.origin(link.start), poses.origin(link.end)
        x = a + t * (b - a)
        local = np.abs((x - np.array(box.centre)) @ rpy_matrix(*box.rpy)) - np.array(box.size) / 2
        to_box = np.linalg.norm(np.maximum(local, 0), axis=2)
        to_ball = np.linalg.norm(x - np.array(ball.centre), axis=2) - ball.radius
        along = np.array(post.end) - np.array(post.start)
        s = np.clip((x - np.array(post.start)) @ along / (along @ along), 0, 1)
        to_post = np.linalg.norm(x - np.array(post.start) - s[..., None] * along, axis=2) - post.radius
        gap = np.minimum(gap, np.min([to_box, to_ball, to_post], axis=0).min(axis=0) - link.radius)
    sure = np.abs(gap) > 3e-3
    assert np.sum(sure) > 280
    assert 30 < np.sum(~found) < 250
    np.testing.assert_array_equal(found[sure], gap[sure] > 0)


def test_links_keep_clear_of_one_another() -> None:
    model = arm()
    links = (Link("base", "q1", 0.2), Link("q2", "tool", 0.2), Link("q1", "elbow", 0.1))
    assert collision_pairs(model, links) == ((links[0], links[1]),)
    q = [[0, 0], [0, 2.9]]  # the hand folded back comes within 0.52 m of the base
    assert passes(SelfCollision(), q, Cell(links)) == [True, True]
    assert passes(SelfCollision(clearance=0.2), q, Cell(links)) == [True, False]
    with refused("no-body"):
        passes(SelfCollision(), q)


def test_links_that_touch_in_every_candidate_say_nothing() -> None:
    links = (Link("base", "q1", 1.0), Link("q2", "tool", 1.0))
    assert passes(SelfCollision(), [[0, 2.9], [0, 2.8]], Cell(links)) == [True, True]
    assert passes(SelfCollision(), [[0, 2.9], [0, 0.1]], Cell((Link("base", "q1", 0.9), Link("q2", "tool", 0.01)))) == [
        False,
        True,
    ]


def test_pairs_that_always_overlap_do_not_depend_on_the_candidates() -> None:
    """The hand folded back over the base in every candidate is a collision, for all that it always happens."""
    model = arm()
    links = (Link("base", "q1", 0.3), Link("q2", "tool", 0.3))
    assert blurred(model, links) == ()
    assert passes(SelfCollision(), [[0, 2.9], [0, 2.8]], Cell(links)) == [False, False]
    thick = (Link("base", "q1", 1.0), Link("q2", "tool", 1.0))
    assert blurred(model, thick) == ((thick[0], thick[1]),)
    kr = read_robot("kuka-kr270")
    named = [(a.label, b.label) for a, b in blurred(kr, links_of(kr, 0.11))]
    assert named == [("A4-link4_end", "A6-link6_end")]  # 0.11 m round a wrist of 0.193 m


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Obstacles(clearance=-0.01), ("range", "clearance")),
        (lambda: SelfCollision(clearance=-0.01), ("range", "clearance")),
        (lambda: LineOfSight(clearance=-0.01), ("range", "clearance")),
        (lambda: LineOfSight(reach=-1.0), ("range", "reach")),
        (lambda: ToolBox(radius=-1.0), ("range", "radius")),
        (lambda: ToolBox(low=(0, 0, 1), high=(1, 1, 1)), ("box",)),
        (lambda: Incidence(facing={"tool": (1, 0, 0)}, within=-0.5), ("within",)),
        (lambda: Incidence(facing={"tool": (1, 0, 0)}, within=4.0), ("within",)),
        (lambda: Approach(axis=(1, 0, 0), towards=(1, 0, 0), within=0.0), ("within",)),
        (lambda: JointLimits(margin=-0.1), ("margin",)),
        (lambda: JointLimits(margin=0.5), ("margin",)),
        (lambda: JointLimits(axes={"A1": (1.0, -1.0)}), ("range", "A1")),
        (lambda: PayloadLimit(), ("payload",)),
        (lambda: PayloadLimit(most=-5.0), ("payload",)),
        (lambda: PayloadLimit(most=5.0, moment=0.0), ("payload",)),
    ],
)
def test_demands_that_make_no_sense(make, said) -> None:
    with refused(*said):
        make()


def test_the_tracker_sees_past_obstacles_and_links() -> None:
    q = [[0, 0], [0, HALF], [0, -HALF]]
    far = (5.0, 0.5, 0.0)
    cell = Cell((), (), far, ("tool",))
    assert passes(LineOfSight(), q, cell) == [True, True, True]
    wall = BoxObstacle(centre=(3, 0.5, 0), size=(0.1, 0.3, 2))
    assert passes(LineOfSight(), q, Cell((), (wall,), far, ("tool",))) == [True, False, True]
    assert passes(LineOfSight(clearance=0.2), q, Cell((), (wall,), far, ("tool",))) == [False, False, True]


def test_a_link_hides_a_marker_that_it_does_not_carry() -> None:
    q = [[0, 0], [0, 2.9]]  # second: the tool is beside the arm, between base and elbow, at y = 0.12
    above, below = (0.5, 3.0, 0.0), (0.5, -3.0, 0.0)
    body = (Link("base", "elbow", 0.05), Link("q2", "tool", 0.05))
    assert passes(LineOfSight(), q, Cell(body, (), above, ("tool",))) == [True, True]
    assert passes(LineOfSight(), q, Cell(body, (), below, ("tool",))) == [True, False]


def test_longest_range_of_the_tracker() -> None:
    q = [[0, 0], [HALF, 0]]  # 3.5 m and 5.2 m away
    assert passes(LineOfSight(reach=4.0), q, Cell((), (), (5.0, 0.0, 0.0), ("tool",))) == [True, False]


def test_reflectors_face_the_tracker() -> None:
    q = [[0, 0], [0, HALF], [0, 0.4]]
    cell = Cell((), (), (50.0, 0.0, 0.0), ("tool",))
    assert passes(Incidence(facing={"tool": (1, 0, 0)}, within=0.5), q, cell) == [True, False, True]
    assert passes(Incidence(facing={"tool": (0, -1, 0)}, within=0.5), q, cell) == [False, True, False]
    with refused("unknown-marker", "elbow"):
        passes(Incidence(facing={"elbow": (1, 0, 0)}, within=0.5), q, cell)
    with refused("missing", "incidence"):
        passes(Incidence(facing={"tool": (1, 0, 0)}, within=0.5), q, Cell(markers=("tool",)))


def test_loads_that_the_cell_allows() -> None:
    q = [[0, 0], [HALF, 0]]
    rope = Anchored(sizes=(10.0,), at=(3.0, 0.0, 0.0), reach=(1.0, 2.0))
    assert passes(LoadPossible(), q, EMPTY, rope) == [True, False]
    weight = Hanging(masses=(10.0,), room=0.5, floor=-0.4)
    assert passes(LoadPossible(), q, EMPTY, weight) == [False, False]


def test_payload_counts_what_is_carried_and_its_moment() -> None:
    q = [[0, 0], [0, HALF]]
    heavy = arm().with_elements(Payload(frame="tool", mass=4.0))
    weight = Hanging(masses=(5.0, 7.0))
    assert passes(PayloadLimit(most=10.0), q, EMPTY, weight, model=heavy) == [True, False, True, False]
    side = Actuator(sizes=(100.0,), directions=((0, 1, 0),))  # about the elbow: arm 0.5 m, then none
    assert passes(PayloadLimit(moment=40.0, about="elbow"), q, EMPTY, side) == [False, True]
    inner = Actuator(sizes=(100.0,), directions=((0, 1, 0),), points=("elbow",))  # 100 N m about the base
    assert passes(PayloadLimit(moment=101.0, about="base"), q, EMPTY, inner) == [True, True]
    assert passes(PayloadLimit(moment=99.0, about="base"), q, EMPTY, inner) == [False, False]


def test_counts_are_in_order_and_the_last_filter_is_named() -> None:
    q = [[0, 0], [HALF, 0], [0, HALF], [0, 3.05]]
    filters = [JointLimits(), ToolBox(radius=1.2)]
    left, steps = screened(candidates_of(arm(), q, Actuator(sizes=(1.0, 2.0), directions=((0, 1, 0),))), EMPTY, filters)
    assert steps == (Removed("joint limits", 2, 6), Removed("tool box", 2, 4))
    assert left.q.tolist() == [[0, 0], [0, 0], [HALF, 0], [HALF, 0]]
    with refused("infeasible", {"joint limits": 1, "tool box": 1, "approach": 2}):
        screened(candidates_of(arm(), q), EMPTY, [*filters, Approach(axis=(1, 0, 0), towards=(0, 0, 1), within=0.1)])


@pytest.mark.parametrize(
    "make",
    [
        lambda v: BoxObstacle(centre=(v, 0, 0), size=(1, 1, 1)),
        lambda v: BoxObstacle(centre=(0, 0, 0), size=(1, v, 1)),
        lambda v: BoxObstacle(centre=(0, 0, 0), size=(1, 1, 1), rpy=(0, 0, v)),
        lambda v: SphereObstacle(centre=(0, v, 0), radius=1),
        lambda v: Capsule(start=(0, 0, 0), end=(0, 0, v), radius=1),
        lambda v: Floor(height=v),
    ],
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_obstacles_stand_somewhere(make, value: float) -> None:
    with pytest.raises(NumberError):
        make(value)


def test_an_obstacle_that_every_candidate_touches_is_named() -> None:
    """Half of the upper arm is always in the box; a box that ends where the arm begins is what it stands on."""
    q = 2.0 * np.random.default_rng(0).normal(size=(20, 2))
    for half, names in ((0.5, True), (1e-9, False)):
        box = BoxObstacle(name="hall", centre=(0, 0, 0.0), size=(2 * half, 2 * half, 2 * half))
        cell = Cell(BODY.links[:1], (box,))
        touches = not Obstacles().passes(candidates_of(arm(), q), cell).any()
        assert touches == names
    with refused("infeasible", {"obstacles": 20}) as caught:
        screened(candidates_of(arm(), q), replace(cell, obstacles=(replace(box, size=(1, 1, 1)),)), [Obstacles()])
    assert "hall" in str(caught.value)


def test_nothing_stands_round_the_foot() -> None:
    robot = read_robot("ur10e")
    foot = Link("base", robot.tree.frames[0].name, 0.05)
    top = float(Poses(robot, np.zeros((1, robot.n))).origin(foot.end)[0, 2])
    candidates = candidates_of(robot, np.zeros((3, robot.n)))
    for below, good in ((0.0, True), (-0.5 * top, True), (2 * top, False)):  # a pedestal, a lower one, a box round it
        box = BoxObstacle(name="box", centre=(0, 0, below - 0.25), size=(0.5, 0.5, 0.5))
        if good:
            assert Obstacles().passes(candidates, Cell((foot,), (box,))).all()
        else:
            with refused("infeasible", "box"):
                Obstacles().passes(candidates, Cell((foot,), (box,)))
