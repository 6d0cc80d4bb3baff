"""One toolpath in every language: the same orientations as scipy's, and the same corrections on the robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

from elastocal.compensation.correction import Correction
from elastocal.compensation.posts.apt import Apt
from elastocal.compensation.posts.fanuc import Fanuc
from elastocal.compensation.posts.poses import aligned
from elastocal.compensation.posts.post import ToolPath, parsed, post_kinds
from elastocal.compensation.program import Changes, Given, Program
from elastocal.compensation.run import compensate
from elastocal.errors import InputError
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot, robot_from_text, shipped_text
from elastocal.files.robot.write import robot_text
from elastocal.model.kinematics import rigid_pose
from elastocal.model.robot import Robot
from elastocal.model.transmission import Drives
from elastocal.spatial.pose import Pose

DOWN = Rotation.from_euler("ZYX", [20.0, 170.0, 5.0], degrees=True).as_matrix()
TOOL = Pose(Rotation.from_euler("ZYX", [10.0, 85.0, 3.0], degrees=True).as_matrix(), np.array([0.15, 0.02, 0.08]))
FORCE = [-300.0, 50.0, -200.0, 0.0, 0.0, 0.0]
WRITTEN = ("krl", "rapid", "fanuc", "urscript", "jbi")


def arm() -> Robot:
    """A 6R arm with pulses, whose axes are called as on a KUKA so that every language takes it."""
    robot = read_robot("kuka-kr270")
    drives = Drives(100 * np.eye(6), np.full(6, 2.0**22), np.zeros(6))
    return replace(robot, transmission=replace(robot.controller, drives=drives))


def square(robot: Robot) -> ToolPath:
    q = np.radians([12.0, -70, 95, 20, 40, -30])
    at, turn = rigid_pose(robot.nominal, "flange", q[:, None])
    first = Pose(turn[..., 0], at[..., 0]) @ TOOL
    corners = first.translation + np.array([[0, 0, 0], [0.15, 0, 0], [0.15, 0.15, 0], [0, 0.15, 0.05]])
    return ToolPath("square", q, corners, first.rotation, TOOL, "square")


def tools(kind: str) -> dict[str, Pose]:
    return {"1": TOOL} if kind in ("fanuc", "jbi") else {}


def bases(kind: str) -> dict[str, Pose]:
    return {"0": Pose()} if kind == "fanuc" else {"base": Pose()} if kind == "jbi" else {}


def example(robot: Robot, kind: str, path: ToolPath) -> Program:
    texts = post_kinds()[kind]().example(robot, path)
    given = Given(bases=bases(kind), tools=tools(kind), drives=robot.controller.drives)
    program = parsed({n: t.encode("ascii") for n, t in texts.items()}, given)
    assert not program.skipped
    return program


def corrected(robot: Robot, kind: str, path: ToolPath) -> np.ndarray:
    program = example(robot, kind, path)
    done = compensate(robot, program, FORCE)
    ends = np.array([m.end for m in program.moves])[1:]
    np.testing.assert_allclose(program.positions[ends], path.positions, atol=1e-7)
    assert done.changes.changed(program).all()
    return done.changes.positions[ends]


@pytest.fixture(scope="module")
def reference() -> tuple[Robot, ToolPath, np.ndarray]:
    robot = arm()
    path = square(robot)
    return robot, path, corrected(robot, "krl", path)


@pytest.mark.parametrize("kind", WRITTEN[1:])
def test_every_language_gets_the_same_corrections(kind: str, reference: tuple) -> None:
    robot, path, wanted = reference
    assert np.abs(wanted - path.positions).max() > 1e-4
    np.testing.assert_allclose(corrected(robot, kind, path), wanted, atol=2e-7)


@pytest.mark.parametrize("kind", WRITTEN)
def test_every_language_takes_points_between_the_corners(kind: str, reference: tuple) -> None:
    robot, path, corners = reference
    program = example(robot, kind, path)
    done = compensate(robot, program, FORCE, densify=2e-6)
    again = parsed(dict(done.files), program.given)
    assert len(again.moves) > len(program.moves) + 2
    places = again.positions[[m.end for m in again.moves]][1:]
    wanted = compensate(robot, example(robot, "krl", path), FORCE, densify=2e-6)
    rows = [p for i in range(1, 5) for p in (*_points(wanted, i), corners[i - 1])]
    np.testing.assert_allclose(places, rows, atol=3e-7)


def _points(done: Correction, move: int) -> np.ndarray:
    return done.changes.inserted[move].positions if move in done.changes.inserted else np.empty((0, 3))


def test_apt_with_its_axis_towards_the_spindle_gets_them_too(reference: tuple) -> None:
    robot, path, wanted = reference
    flip = Pose(np.diag([1.0, -1, -1]))
    turn = path.rotation @ flip.rotation
    i, j, k = turn[:, 2]
    lines = [f"GOTO/{x:.5f},{y:.5f},{z:.5f},{i:.9f},{j:.9f},{k:.9f}" for x, y, z in 1e3 * path.positions]
    text = "UNITS/MM\nFEDRAT/500,MMPM\n" + "\n".join(lines) + "\n"
    program = read_program(text, "apt", bases={"base": Pose()}, tools={"tool": TOOL @ flip}, orientation=turn)
    np.testing.assert_allclose(program.rotations, np.tile(turn, (4, 1, 1)), atol=1e-8)
    done = compensate(robot, program, FORCE, near=robot.controller.to_controller(path.q[None])[0])
    np.testing.assert_allclose(done.changes.positions, wanted, atol=2e-7)


def test_tables_and_gcode_get_them_too(reference: tuple) -> None:
    robot, path, wanted = reference
    near = robot.controller.to_controller(path.q[None])[0]
    a, b, c = Rotation.from_matrix(path.rotation).as_euler("ZYX", degrees=True)
    rows = [f"{x:.5f},{y:.5f},{z:.5f},{a:.8f},{b:.8f},{c:.8f}" for x, y, z in 1e3 * path.positions]
    table = "\n".join(["x_mm,y_mm,z_mm,a_deg,b_deg,c_deg", *rows, ""])
    program = read_program(table, "csv", bases={"base": Pose()}, tools={"tool": TOOL})
    done = compensate(robot, program, FORCE, near=near)
    np.testing.assert_allclose(done.changes.positions, wanted, atol=2e-7)
    lines = [f"G1 X{x:.5f} Y{y:.5f} Z{z:.5f} F500" for x, y, z in 1e3 * path.positions]
    code = "\n".join(["G21 G90 G54", *lines, "M30", ""])
    program = read_program(code, "gcode", bases={"G54": Pose()}, tools={"T0": TOOL}, orientation=path.rotation)
    assert not program.missing_frames()
    done = compensate(robot, program, FORCE, near=near)
    np.testing.assert_allclose(done.changes.positions, wanted, atol=3e-5)  # the orientation of points stays
    full = compensate(robot, example(robot, "krl", path), FORCE, position_only=True)
    np.testing.assert_allclose(done.changes.positions, full.changes.positions[1:], atol=3e-7)


def test_orientations_are_those_of_scipy() -> None:
    w, p, r = 170.0, 10.0, -30.0
    angles = Rotation.from_euler("ZYX", [r, p, w], degrees=True).as_matrix()
    fanuc = (
        "/PROG A\n/MN\n1:L P[1] 5mm/sec FINE ;\n/POS\nP[1]{\nGP1:\nUF : 1, UT : 1, CONFIG : 'N U T, 0, 0, 0',\n"
        f"X = 1 mm, Y = 2 mm, Z = 3 mm,\nW = {w} deg, P = {p} deg, R = {r} deg\n}};\n/END\n"
    )
    jbi = f"//POS\n///POSTYPE BASE\n///RECTAN\nC00000=1,2,3,{w},{p},{r}\n//INST\nMOVL C00000 V=5\n"
    ur = "def a():\nmovel(p[0.001,0.002,0.003,0.4,-1.2,2.0])\nend\n"
    np.testing.assert_allclose(read_program(fanuc, "fanuc").rotations[0], angles, atol=1e-12)
    np.testing.assert_allclose(read_program(jbi, "jbi").rotations[0], angles, atol=1e-12)
    turned = Rotation.from_rotvec([0.4, -1.2, 2.0]).as_matrix()
    np.testing.assert_allclose(read_program(ur, "urscript").rotations[0], turned, atol=1e-12)
    new = Rotation.from_rotvec([1e-3, 2e-3, -1e-3]).as_matrix() @ angles
    program = read_program(fanuc, "fanuc")
    changes = replace(Changes.none(program), rotations=new[None])
    again = Fanuc().read(Fanuc().write(program, changes))
    np.testing.assert_allclose(again.rotations[0], new, atol=2e-7)


def test_the_free_turn_about_a_tool_axis_is_the_least_one() -> None:
    axes = Rotation.random(40, random_state=np.random.default_rng(3)).as_matrix()[:, :, 2]
    turn = Rotation.from_matrix(aligned(axes, DOWN) @ DOWN.T)
    np.testing.assert_allclose(aligned(axes, DOWN)[:, :, 2], axes, atol=1e-12)
    tilt = np.arccos(np.clip(axes @ DOWN[:, 2], -1, 1))
    np.testing.assert_allclose(turn.magnitude(), tilt, atol=1e-7)
    opposite = aligned(-DOWN[None, :, 2], DOWN)[0]
    np.testing.assert_allclose(opposite @ opposite.T, np.eye(3), atol=1e-12)


def test_axes_of_a_fanuc_whose_robot_file_has_no_coupling_are_warned_of() -> None:
    axes = ", ".join(f"J{i}= {v} deg" for i, v in enumerate((10, 20, -30, 0, -40, 0), 1))
    text = f"/PROG A\n/MN\n1:J P[1] 5% FINE ;\n/POS\nP[1]{{\nGP1:\nUF : 0, UT : 0,\n{axes}\n}};\n/END\n"
    robot = read_robot("fanuc-r2000ic165f")
    plain = replace(robot, transmission=replace(robot.controller, matrix=np.eye(6)))
    codes = [[f.code for f in compensate(r, read_program(text, "fanuc")).warnings] for r in (plain, robot)]
    assert [c.count("fanuc-coupling") for c in codes] == [1, 0]


def test_pulses_without_a_robot_that_knows_them_are_refused_with_that_sentence() -> None:
    job = "//POS\n///TOOL 0\n///PULSE\nC00000=0,0,0,0,0,0\n//INST\nMOVJ C00000 VJ=5.00\n"
    with refused("no-target", file="program.jbi"):
        compensate(read_robot("kuka-kr270"), read_program(job, "jbi"), FORCE)
    program = read_program(job, "jbi", tools={"0": Pose()})
    done = compensate(arm(), program)
    assert done.program.joints.shape == (1, 6)


PULSES = "pulses_per_degree: {S: 1341.4, L: 1341.4, U: 1341.4, R: 1000, B: -980.5, T: 622.1}"


def test_pulses_per_degree_of_the_user_make_a_job_in_pulses_readable() -> None:
    text = shipped_text("yaskawa-gp25")
    robot = robot_from_text(text.replace("language: jbi", f"language: jbi\n  {PULSES}"), "gp25.yaml")
    job = "//POS\n///TOOL 0\n///PULSE\nC00000=0,13414,-26828,500,-98050,6221\n//INST\nMOVJ C00000 VJ=5.00\n"
    done = compensate(robot, read_program(job, "jbi", tools={"0": Pose()}))
    np.testing.assert_allclose(np.degrees(done.program.joints[0]), [0, 10, -20, 0.5, 100, 10], atol=1e-9)
    again = robot_from_text(robot_text(robot), "again.yaml")
    np.testing.assert_allclose(again.controller.drives.counts_per_turn, robot.controller.drives.counts_per_turn)
    five = {"S": 1341.4, "L": 1341.4, "U": 1341.4, "R": 1000, "B": -980.5}
    for wrong, key, value in ((", T: 622.1", "", five), ("1000", ".R", 0)):
        bad = PULSES.replace(wrong, "0" if wrong == "1000" else "")
        with refused("input", value, file="gp25.yaml", line=29, column=f"controller.pulses_per_degree{key}"):
            robot_from_text(text.replace("language: jbi", f"language: jbi\n  {bad}"), "gp25.yaml")


def test_a_wrong_file_is_refused_or_named() -> None:
    with refused("not-ascii"):
        read_program({"part.ls": b"binary\xff"})
    with refused("no-positions"):
        read_program({"part.jbi": b"NOP\nEND\n"})
    with refused("unit", "FEET", line=1):
        Apt().read({"a.apt": b"UNITS/FEET\n"})
    program = read_program({"part.script": b"def a():\nmovel(p[1,2,3,0,0], a=1)\nend\n"})
    assert program.skipped[0].reason == "its point is an expression"


def test_no_points_between_those_that_apt_drills() -> None:
    goto = "GOTO/0,0,0\nGOTO/100,0,0\n"
    program = Apt().read({"a.apt": f"{goto}CYCLE/DRILL,10\n{goto}CYCLE/OFF\n{goto}".encode()})
    assert [bool(m.fixed) for m in program.moves] == [False, False, True, True, False, False]


@pytest.mark.parametrize("kind", ["apt", "gcode", "csv"])
def test_tool_axes_and_an_orientation_that_looks_into_the_part(reference: tuple, kind: str) -> None:
    """A tool of a robot, z from the flange to the tip, and a path whose axes point from the tip to the spindle."""
    robot, path, found = reference
    i, j, k = -path.rotation[:, 2]
    points = [(*(1e3 * p), i, j, k) for p in path.positions]
    text = {
        "apt": "UNITS/MM\nMULTAX/ON\n" + "".join("GOTO/" + ",".join(f"{v:.9f}" for v in p) + "\n" for p in points),
        "gcode": "G21 G90 G54\nT1 M6\n"
        + "".join("G1 X{:.9f} Y{:.9f} Z{:.9f} A3={:.9f} B3={:.9f} C3={:.9f} F1000\n".format(*p) for p in points),
        "csv": "x_mm,y_mm,z_mm,i,j,k\n" + "".join(",".join(f"{v:.9f}" for v in p) + "\n" for p in points),
    }[kind]
    name = {"gcode": "G54"}.get(kind, "base"), {"gcode": "T1"}.get(kind, "tool")
    program = read_program(text, kind, bases={name[0]: Pose()}, tools={name[1]: TOOL}, orientation=path.rotation)
    np.testing.assert_allclose(program.rotations, np.broadcast_to(path.rotation, (4, 3, 3)), atol=1e-8)
    done = compensate(robot, program, FORCE, near=robot.controller.to_controller(path.q[None])[0])
    np.testing.assert_allclose(done.changes.positions, found, atol=2e-7)
    again = read_program(
        {n: c.decode() for n, c in done.files.items()}, kind, bases=program.given.bases, tools=program.given.tools,
        orientation=path.rotation,
    )  # fmt: skip
    np.testing.assert_allclose(again.rotations[:, :, 2], done.changes.rotations[:, :, 2], atol=1e-6)


def test_a_tool_axis_without_an_orientation_says_which_way_z_is_taken(reference: tuple) -> None:
    robot, path, _ = reference
    i, j, k = path.rotation[:, 2]
    text = "".join(f"GOTO/{x:.5f},{y:.5f},{z:.5f},{i:.9f},{j:.9f},{k:.9f}\n" for x, y, z in 1e3 * path.positions)
    with refused("frame-unknown", "base base (program.apt, line 1)", file="program.apt", parameter="base"):
        compensate(robot, read_program(text, "apt"), FORCE)
    near, frames = robot.controller.to_controller(path.q[None])[0], {"bases": {"base": Pose()}, "tools": {"tool": TOOL}}
    for orientation, said in ((None, True), (path.rotation, False)):
        done = compensate(robot, read_program(text, "apt", orientation=orientation, **frames), FORCE, near=near)
        (note,) = [f.text for f in done.warnings if f.code == "tool-axis-free"]
        assert ("No orientation is stated: z of the tool is taken from the tip to the spindle" in note) == said


LEVEL = {
    "krl": "DEF a()\n$BASE=$NULLFRAME\nLIN {{X 1,Y 2,Z 3,A {c},B {b},C {a}}}\nEND\n",
    "fanuc": (
        "/PROG A\n/MN\n1:L P[1] 5mm/sec FINE ;\n/POS\nP[1]{{\nGP1:\nUF : 1, UT : 1, CONFIG : 'N U T, 0, 0, 0',\n"
        "X = 1 mm, Y = 2 mm, Z = 3 mm,\nW = {a} deg, P = {b} deg, R = {c} deg\n}};\n/END\n"
    ),
    "jbi": "//POS\n///POSTYPE BASE\n///RECTAN\nC00000=1,2,3,{a},{b},{c}\n//INST\nMOVL C00000 V=5\n",
}


@pytest.mark.parametrize("kind", LEVEL)
def test_angles_stay_as_controllers_have_them(kind: str) -> None:
    """A tool that points down is at half a turn, and a correction may lead across it."""
    post = post_kinds()[kind]()
    for a, c in ((180.0, -179.999), (-179.9995, 180.0), (179.9999, 0.0)):
        program = read_program(LEVEL[kind].format(a=a, b=0.0, c=c), kind)
        for turn in ([1e-4, 0, 2e-4], [-1e-4, 0, -2e-4]):
            new = Rotation.from_rotvec(turn).as_matrix() @ program.rotations[0]
            written = post.write(program, replace(Changes.none(program), rotations=new[None]))
            again = post.read(written)
            np.testing.assert_allclose(again.rotations[0], new, atol=2e-7)
            angles = again.layout.slots.values[0, 3:]
            assert ((angles > -180) & (angles <= 180)).all()


def test_a_user_frame_that_nobody_states_is_suggested_in_the_controllers_own_frame() -> None:
    robot = read_robot("fanuc-r2000ic165f")
    with pytest.raises(InputError) as error:
        compensate(robot, read_program(LEVEL["fanuc"].format(a=180, b=0, c=0), "fanuc"), FORCE)
    assert error.value.code == "frame-unknown"
    assert error.value.suggested == {"base": ("1=0,0,0,0,0,0",), "tool": (f"1={robot.tool}",)}
    assert "it lies at 0,0,670,0,0,0" in str(error.value)


def test_user_frames_are_typed_as_the_pendant_shows_them() -> None:
    """The world of a FANUC lies at the height of axis 2: 670 mm above the mounting plane of this robot."""
    robot, text = read_robot("fanuc-r2000ic165f"), LEVEL["fanuc"].format(a=180, b=0, c=0)
    typed = Pose(np.diag([1.0, -1, -1]), [1.2, -0.1, 0.1])
    tools = {"1": TOOL}
    done = compensate(robot, read_program(text, "fanuc", bases={"1": typed}, tools=tools), FORCE)
    program = done.program
    want = Pose(translation=[0, 0, 0.67]) @ typed @ Pose(translation=program.positions[0])
    np.testing.assert_allclose(done.job.placed.position[0], want.translation, atol=1e-12)
    again = compensate(robot, program, FORCE)
    np.testing.assert_array_equal(again.job.placed.position, done.job.placed.position)
    elsewhere = {"1": typed, "0": Pose(translation=[0, 0, 0.6])}
    moved = compensate(robot, read_program(text, "fanuc", bases=elsewhere, tools=tools), FORCE)
    np.testing.assert_allclose(done.job.placed.position[0] - moved.job.placed.position[0], [0, 0, 0.07], atol=1e-12)
