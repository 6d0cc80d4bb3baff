"""Configuration data select the way that an arm reaches a pose: all eight ways and whole turns, found again."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws

from elastocal.compensation.branches import configuration_words, selected
from elastocal.compensation.posts.jbi import _rconf
from elastocal.compensation.posts.post import post_kinds
from elastocal.compensation.program import Target
from elastocal.compensation.spherical_wrist import WristGeometry, wrist_geometry
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import rigid_pose
from elastocal.model.robot import Robot


def sampled(model: Robot, count: int = draws(60, 300)) -> np.ndarray:
    """Joint values (n, 6) within the limits, away from the singular places."""
    rng = np.random.default_rng(5)
    low, high = np.array([m.limits for m in model.motions]).T
    q = rng.uniform(low, high, (4 * count, 6))
    arm = wrist_geometry(model, "flange")
    assert isinstance(arm, WristGeometry)
    wrist = rigid_pose(model.nominal, model.joints[4], q.T)[0]
    shoulder = rigid_pose(model.nominal, model.joints[1], q.T)[0]
    elbow = rigid_pose(model.nominal, model.joints[2], q.T)[0]
    bend = np.linalg.norm(np.cross(elbow - shoulder, wrist - elbow, axis=0), axis=0)
    clear = (np.hypot(*wrist[:2]) > 0.15) & (bend > 0.05) & (np.abs(np.sin(q[:, 4] + arm.gamma)) > 0.05)
    return q[clear][:count]


def by_geometry(model: Robot, q: np.ndarray) -> tuple[bool, bool]:
    """Wrist behind axis 1; wrist ahead of the upper arm: from points of the arm, by another route than the code's."""
    shoulder, elbow, wrist = (rigid_pose(model.nominal, model.joints[i], q[:, None])[0][:, 0] for i in (1, 2, 4))
    one = q.copy()
    one[1:] = 0
    out = rigid_pose(model.nominal, model.joints[1], one[:, None])[0][:, 0] * [1, 1, 0]
    out = out / np.linalg.norm(out)
    across = np.cross([0, 0, 1.0], out)
    ahead = np.cross(elbow - shoulder, wrist - shoulder) @ across > 0
    return bool(wrist @ out < 0), bool(ahead)


def words(kind: str, model: Robot, q: np.ndarray) -> tuple[str, int | None]:
    behind, ahead = by_geometry(model, q)
    axes = np.degrees(model.controller.to_controller(q[None])[0])
    if kind == "krl":
        turn = sum(1 << i for i, v in enumerate(axes) if v < 0)
        return f"S {behind + 2 * ahead + 4 * (axes[4] < 0)}", turn
    if kind == "rapid":
        quarters = np.floor(axes[[0, 3, 5]] / 90).astype(int)
        return f"[{','.join(map(str, quarters))},{4 * behind + 2 * (not ahead) + (axes[4] < 0):.0f}],[9E9]", None
    turns = np.floor((axes[[0, 3, 5]] + 180) / 360).astype(int)
    said = f"{'N' if axes[4] < 0 else 'F'} {'U' if ahead != behind else 'D'} {'B' if behind else 'T'}"
    return f"{said}, {', '.join(map(str, turns))}", None


@pytest.mark.parametrize(
    ("kind", "robot"), [("krl", "kuka-kr270"), ("rapid", "kuka-kr270"), ("fanuc", "fanuc-m710ic50")]
)
def test_configuration_data_find_the_joint_values_again(kind: str, robot: str) -> None:
    model = read_robot(robot)
    arm = wrist_geometry(model, "flange")
    assert isinstance(arm, WristGeometry)
    post, ways = post_kinds()[kind](), set()
    for q in sampled(model):
        at, turn = rigid_pose(model.nominal, "flange", q[:, None])
        said, signs = words(kind, model, q)
        branch = post.branch(Target("p", 1, "", "pose", "0", "0", said, turn=signs))
        found = selected(model, arm, at[:, 0], turn[..., 0], branch)
        found[2] += 2 * np.pi * np.rint((q[2] - found[2]) / (2 * np.pi))  # a J3 of more than one turn is not stated
        np.testing.assert_allclose(found, q, atol=1e-7, err_msg=f"{said} of {np.degrees(q)}")
        ways.add((branch.behind, branch.ahead, branch.fifth_negative))
        if kind == "fanuc":
            assert configuration_words(model, q) == said
    assert len(ways) >= 6


def test_words_that_no_pose_can_have_select_nothing() -> None:
    model = read_robot("kuka-kr270")
    arm = wrist_geometry(model, "flange")
    at, turn = rigid_pose(model.nominal, "flange", np.radians([[0.0, -60, 90, 0, 30, 0]]).T)
    branch = post_kinds()["krl"]().branch(Target("p", 1, "", "pose", "0", "0", "S 2"))
    assert selected(model, arm, at[:, 0] + 10.0, turn[..., 0], branch) is None


def plane_words(
    shoulder: float, upper: float, rise: float, fore: float, lean: float, pitch: float
) -> tuple[bool, bool]:
    """Wrist behind axis 1, and elbow above the line from shoulder to wrist: in the plane of the arm, x forward, y up.

    From the lengths of data sheets and what manuals say of the words: FANUC operator's manual on CONFIG, Yaskawa NX100
    operator's manual (RE-CSO-A031) on manipulator types.  ``lean`` of the upper arm from the vertical, ``pitch`` of the
    forearm above the level, in rad.
    """
    start = np.array([shoulder, 0.0])
    elbow = start + upper * np.array([np.sin(lean), np.cos(lean)])
    along, above = np.array([np.cos(pitch), np.sin(pitch)]), np.array([-np.sin(pitch), np.cos(pitch)])
    wrist = elbow + rise * above + fore * along
    (x, y), (u, v) = wrist - start, elbow - start
    behind = bool(wrist[0] < 0)
    return behind, bool((x * v - y * u > 0) != behind)


def bent_down(model: Robot, q: np.ndarray, pitch: float, roll: float) -> bool:
    """Whether the hand hangs below the forearm, with axis 4 turned back to where its top is up: no flip.

    The hand points from the wrist centre to the flange; ``pitch`` of the forearm is that of ``plane_words``.
    """
    wrist, flange, foot = (
        rigid_pose(model.nominal, f, q[:, None])[0][:, 0] for f in (*model.joints[4:5], "flange", model.joints[1])
    )
    ahead = foot * [1, 1, 0] / np.hypot(*foot[:2])
    above = np.cos(pitch) * np.array([0.0, 0, 1]) - np.sin(pitch) * ahead
    return bool(((flange - wrist) @ above) * np.cos(roll) < 0)


def test_config_of_a_fanuc_by_plane_geometry() -> None:
    """Pendant values: J2 from the vertical, J3 from the horizontal; lengths in mm of the M-710iC/50."""
    model = read_robot("fanuc-m710ic50")
    seen = set()
    for shown in np.random.default_rng(6).uniform(-1, 1, (300, 6)) * np.radians([170, 90, 130, 350, 120, 350]):
        behind, up = plane_words(150, 870, 170, 1016, shown[1], shown[2])
        turns = ", ".join(str(int(np.floor((np.degrees(shown[i]) + 180) / 360))) for i in (0, 3, 5))
        q = model.controller.to_joints(shown[None])[0]
        hanging = bent_down(model, q, shown[2], shown[3])
        words = f"{'N' if hanging else 'F'} {'U' if up else 'D'} {'B' if behind else 'T'}, {turns}"
        assert configuration_words(model, q) == words
        seen.add(words[:5])
    assert len(seen) == 8


def test_rconf_of_a_yaskawa_by_plane_geometry() -> None:
    """L from the vertical, U up from square to the upper arm; lengths in mm of the GP25."""
    model = read_robot("yaskawa-gp25")
    seen = set()
    for shown in np.random.default_rng(7).uniform(-1, 1, (300, 6)) * np.radians([170, 90, 90, 200, 150, 350]):
        behind, up = plane_words(150, 760, 200, 795, shown[1], shown[2] - shown[1])
        beyond = [abs(np.degrees(shown[i])) >= 180 for i in (3, 5, 0)]
        q = model.controller.to_joints(shown[None])[0]
        flags = [bent_down(model, q, shown[2] - shown[1], shown[3]), not up, behind, *beyond, *[False] * 18]
        assert _rconf(model, q) == ",".join(str(int(f)) for f in flags)
        seen.add(tuple(flags[:3]))
    assert len(seen) >= 6


@pytest.mark.parametrize("count", [6, 8, 24])
def test_flip_is_a_matter_of_r_on_an_nx100_and_of_b_on_its_followers(count: int) -> None:
    """RCONF from joint values, by the words of the manuals, finds them again."""
    model = read_robot("yaskawa-gp25")
    arm = wrist_geometry(model, "flange")
    assert isinstance(arm, WristGeometry)
    flips = set()
    for q in sampled(model):
        r, b = np.degrees(model.controller.to_controller(q[None])[0])[3:5]
        if abs(r) >= 180 or abs(abs(r) - 90) < 1:
            continue
        no_flip = b < 0 if count == 24 else not -90 < r <= 90
        said = [str(int(no_flip)), *_rconf(model, q).split(",")[1:count], *["0"] * (count - 24)]
        branch = post_kinds()["jbi"]().branch(Target("p", 1, "", "pose", "0", "0", ",".join(said)))
        at, turn = rigid_pose(model.nominal, "flange", q[:, None])
        found = selected(model, arm, at[:, 0], turn[..., 0], branch)
        np.testing.assert_allclose(np.cos(found), np.cos(q), atol=1e-7)
        np.testing.assert_allclose(found[3:5], q[3:5], atol=1e-7)
        flips.add((no_flip, b < 0))
    assert len(flips) == (2 if count == 24 else 4)
