"""Arcs that become several: corrected programs, run by a controller that draws circles and turns tools on its own."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from elastocal.compensation.arc_points import PARTS, Arcs, split
from elastocal.compensation.commands import correct
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.posts.post import ToolPath, parsed, post_kinds
from elastocal.compensation.program import Changes, Given, Inserted
from elastocal.compensation.run import compensate
from elastocal.compensation.targets import Targets
from elastocal.compensation.verification import residual
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import rigid_pose
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.spatial.pose import Pose

TOOL = Pose(Rotation.from_euler("ZYX", [10.0, 85.0, 3.0], degrees=True).as_matrix(), np.array([0.15, 0.02, 0.08]))
FORCE = np.array([-1500.0, 800.0, -1200.0, 0.0, 0.0, 0.0])
Q = np.radians([12.0, -70, 95, 20, 40, -30])
TOLERANCE = 5e-6
RIGID = ("joint_compliance", "link_compliance", "foundation_compliance")
ARCS = {
    "krl": (r"LIN ({.*})\s+LIN ({.*})(?=\s+END)", r"CIRC \1,\2 ; the arc"),
    "rapid": (r"MoveL (p2),.*;\s+MoveL (p3,.*;)", r"MoveC \1, \2 ! the arc"),
    "urscript": (r"movel\((p.*\]), a=.*\)\s+movel\((p.*\))(?=\s+end)", r"movec(\1, \2 # the arc"),
    "fanuc": (r":L P\[3\].*;\s+11:L (P\[4\].*;)", r":C P[3]    \r\n    :  \1"),
}


@pytest.fixture(scope="module")
def robot():
    return read_robot("kuka-kr270")


def circle(angle, bend=0.5, radius=0.4, turn=(0.0, 0.0, 0.0), via_turn=None):
    """Start, auxiliary point and end of an arc in space, as poses: the tool turns by a rotation vector on the way."""
    robot = read_robot("kuka-kr270")
    at, first = rigid_pose(robot.nominal, "flange", Q[:, None])
    start = Pose(first[..., 0], at[..., 0]) @ TOOL
    plane = Rotation.from_euler("xyz", [25.0, -15.0, 40.0], degrees=True).as_matrix()
    share = np.array([0.0, bend, 1.0])
    ring = radius * np.stack([np.cos(share * angle) - 1, np.sin(share * angle), 0 * share], axis=1) @ plane.T
    turns = start.rotation @ Rotation.from_rotvec(share[:, None] * np.array(turn)).as_matrix()
    if via_turn is not None:
        turns[1] = turns[1] @ Rotation.from_rotvec(via_turn).as_matrix()
    return start.translation + ring, turns, plane[:, 2]


def program_of(robot, kind, nodes):
    places, turns, _ = nodes
    texts = post_kinds()[kind]().example(robot, ToolPath("ring", Q, places, turns[0], TOOL, "ring", turns=turns))
    (name,) = texts
    pattern, arc = ARCS[kind]
    text, count = re.subn(pattern, arc, texts[name])
    assert count == 1
    for i, turn in enumerate(turns, 1):  # RAPID's examples have one orientation
        numbers = ",".join(f"{v:.8f}" for v in Rotation.from_matrix(turn).as_quat(scalar_first=True))
        text = re.sub(rf"( p{i}:=\[\[[^\]]*\],\[)[^\]]*", rf"\g<1>{numbers}", text)
    tools, bases = ({"1": TOOL}, {"0": Pose()}) if kind == "fanuc" else ({}, {})
    program = parsed({name: text.encode("ascii")}, Given(bases=bases, tools=tools))
    assert [m.motion for m in program.moves][-2:] == ["linear", "arc"]
    np.testing.assert_allclose(program.rotations[-2:], turns[1:], atol=2e-6)
    assert not program.skipped
    return program


def way(program, number, steps):
    """What a controller makes of a move: places and orientations; circles by linear equations, turns by SciPy."""
    move, share = program.moves[number], np.linspace(0, 1, steps)
    a, b = (program.positions[i] for i in (move.start, move.end))
    turns = Slerp([0, 1], Rotation.from_matrix(program.rotations[[move.start, move.end]]))(share).as_matrix()
    if move.via is None:
        return (1 - share[:, None]) * a + share[:, None] * b, turns
    v = program.positions[move.via]
    normal = np.cross(v - a, b - a) / np.linalg.norm(np.cross(v - a, b - a))
    middle = np.linalg.solve([v - a, b - a, normal], [(v - a) @ (a + v) / 2, (b - a) @ (a + b) / 2, normal @ a])
    angle = np.arctan2(np.cross(a - middle, b - middle) @ normal, (a - middle) @ (b - middle)) % (2 * np.pi)
    return middle + Rotation.from_rotvec(share[:, None] * angle * normal).apply(a - middle), turns


def driven(done, program, steps):
    """Where the loaded tool goes on the arcs of a program, on the simulated true robot."""
    at = done.job.placed
    (frame,) = set(at.frames)
    arcs = [i for i, m in enumerate(program.moves) if m.motion == "arc"]
    place, turn = (np.concatenate(c) for c in zip(*(way(program, i, steps) for i in arcs), strict=True))
    near = done.commands.nominal[1]
    sent = correct(at.model.without(*RIGID), Targets(frame, place, turn, near)).command
    nowhere = Targets(frame, np.zeros((len(place), 3)), np.tile(np.eye(3), (len(place), 1, 1)), near)
    stood = residual(at.model, sent, nowhere, PathLoads((AppliedWrenches(frame, FORCE[None]),)))
    return stood.position, Rotation.from_rotvec(stood.rotation), len(arcs)


def measured(nodes, places):
    """How far places are from a desired arc, and the angles about its centre from its start on."""
    (start, via, end), _, axis = nodes
    middle = np.linalg.solve(
        [via - start, end - start, axis],
        [(via - start) @ (start + via) / 2, (end - start) @ (start + end) / 2, axis @ start],
    )
    out = places - middle
    flat = out - (out @ axis)[:, None] * axis
    one = (start - middle) / np.linalg.norm(start - middle)
    angle = np.unwrap(np.arctan2(flat @ np.cross(axis, one), flat @ one))
    return np.hypot(np.linalg.norm(flat, axis=1) - np.linalg.norm(start - middle), out @ axis), angle


SHAPES = {
    "a third": {"angle": np.radians(120)},
    "more than half a circle": {"angle": np.radians(250)},
    "an auxiliary point near the start": {"angle": np.radians(160), "bend": 0.15},
    "one near the end": {"angle": np.radians(160), "bend": 0.9},
}
TURNING = {"a tool that turns": {"angle": np.radians(200), "turn": (0.4, -0.5, 0.3)}}
CASES = [
    *((kind, shape) for kind in ("krl", "urscript") for shape in (*SHAPES, *TURNING)),
    *(("fanuc", shape) for shape in (*SHAPES, *TURNING)), *(("rapid", s) for s in SHAPES if not s.startswith("more")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "shape"), CASES)
def test_the_loaded_tool_stays_within_the_tolerance_of_the_arc(robot, kind, shape):
    nodes = circle(**{**SHAPES, **TURNING}[shape])
    program = program_of(robot, kind, nodes)
    plain = compensate(robot, program, FORCE)
    done = compensate(robot, program, FORCE, densify=TOLERANCE, truth=robot)
    again = parsed(dict(done.files), program.given)
    wide, _ = measured(nodes, driven(plain, parsed(dict(plain.files), program.given), 200)[0])
    places, turns, arcs = driven(done, again, 60)
    off, angle = measured(nodes, places)
    assert wide.max() > 4 * TOLERANCE
    assert off.max() < 1.1 * TOLERANCE
    assert arcs == 1 + done.changes.inserted[2].positions.shape[0] // 2 > 2
    total = {**SHAPES, **TURNING}[shape]["angle"]
    assert angle[0] == pytest.approx(0, abs=1e-6)
    assert angle[-1] == pytest.approx(total, abs=1e-6)
    assert (np.diff(angle) > -1e-9).all()  # onwards, nowhere back
    wanted = Slerp([0, total], Rotation.from_matrix(nodes[1][[0, 2]]))(np.clip(angle, 0, total))
    assert (wanted.inv() * turns).magnitude().max() < 2e-4
    assert done.along.off[-1] == pytest.approx(off.max(), rel=0.2)
    np.testing.assert_allclose(done.along.on_truth, done.along.off, rtol=1e-6)


@pytest.mark.parametrize("kind", ARCS)
def test_all_but_the_points_stays(robot, kind):
    """Without a correction every byte; with one, the digits of the program's own points at their places, and its
    comments, once."""
    program = program_of(robot, kind, circle(np.radians(120)))
    (name,) = program.files
    post = post_kinds()[kind]()
    assert post.write(program, Changes.none(program)) == program.files
    rigid = compensate(robot.without(*RIGID), program, FORCE, densify=TOLERANCE)
    assert rigid.files == program.files
    done = compensate(robot, program, FORCE, densify=TOLERANCE)
    again = parsed(dict(done.files), program.given)
    ends = [m.end for m in again.moves]
    assert len(again.targets) == len(program.targets) + done.inserted
    np.testing.assert_allclose(again.positions[ends[-1]], done.changes.positions[-1], atol=1e-7)
    via = program.moves[-1].via
    assert np.nanmin(np.abs(again.positions - done.changes.positions[via]).max(axis=1)) < 1e-7
    assert all(m.feed == program.moves[-1].feed for m in again.moves if m.motion == "arc")
    assert done.files[name].count(b"the arc") == program.files[name].count(b"the arc")
    for line in program.files[name].decode("ascii").splitlines():
        if not re.search(r"CIRC|MoveC|movec|C P\[|P\[4\]|LINE_COUNT|[-\d]\.\d", line):
            assert line in done.files[name].decode("ascii").splitlines()


def test_an_arc_of_each_language_as_it_is_written(robot):
    def written(kind, text, given=None):
        program = parsed({f"part{post_kinds()[kind].suffixes[0]}": text.encode()}, given)
        number = next(i for i, m in enumerate(program.moves) if m.motion == "arc")
        place = np.array([[0.01 * i, 0.0, 0.0] for i in range(1, 7)])
        points = Inserted(place, np.tile(np.eye(3), (6, 1, 1)), 2)
        (out,) = post_kinds()[kind]().write(program, replace(Changes.none(program), inserted={number: points})).values()
        again = parsed({f"part{post_kinds()[kind].suffixes[0]}": out}, given)
        arcs = [m for m in again.moves if m.motion == "arc"]
        x = [[round(1e3 * again.positions[i, 0]) for i in (m.via, m.end)] for m in arcs]
        assert x == [[10, 20], [500, 30], [40, 50], [60, 900]]
        return out.decode().splitlines()

    head = "DEF a( )\n$BASE={X 0,Y 0,Z 0,A 0,B 0,C 0}\n$TOOL={X 0,Y 0,Z 0,A 0,B 0,C 0}\nLIN {X 0,Y 0,Z 0,A 0,B 0,C 0}\n"
    lines = written("krl", f"{head}  SCIRC {{X 500,Y 5,Z 0}} , {{X 900,Y 0}} C_SPL ; here\nEND\n")
    zero = "Y 0.0000,Z 0.0000,A 0.00000,B 0.00000,C 0.00000}"
    assert lines[4:8] == [
        f"  SCIRC {{X 10.0000,{zero},{{X 20.0000,{zero} C_SPL",
        f"  SCIRC {{X 500,Y 5,Z 0}} ,{{X 30.0000,{zero} C_SPL",
        f"  SCIRC {{X 40.0000,{zero},{{X 50.0000,{zero} C_SPL",
        f"  SCIRC {{X 60.0000,{zero}, {{X 900,Y 0}} C_SPL ; here",
    ]
    frames = "PERS tooldata t:=[TRUE,[[0,0,0],[1,0,0,0]],[1,[0,0,1],[1,0,0,0],0,0,0]];"
    rest = "[1,0,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]]"
    text = (
        f"MODULE m\n{frames}\nCONST robtarget pv:=[[500,5,0],{rest};\nCONST robtarget pe:=[[900,0,0],{rest};\n"
        f"PROC main()\n  MoveL [[0,0,0],{rest},v50,fine,t;\n  MoveC pv, pe,v50,fine,t;\nENDPROC\nENDMODULE\n"
    )
    point = (
        "[[{}.0000,0.0000,0.0000],[1.00000000,0.00000000,0.00000000,0.00000000],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]]"
    )
    assert written("rapid", text)[6:10] == [
        f"  MoveC {point.format(10)},{point.format(20)},v50,z0,t;",
        f"  MoveC pv,{point.format(30)},v50,z0,t;",
        f"  MoveC {point.format(40)},{point.format(50)},v50,z0,t;",
        f"  MoveC {point.format(60)}, pe,v50,fine,t;",
    ]
    text = (
        "def a():\n  movel(p[0,0,0,0,0,0])\n  movec(p[0.5,0.005,0,0,0,0], p[0.9,0,0,0,0,0], a=1, v=0.1, r=0.01)\nend\n"
    )
    pose = "p[{}0000, 0.0000000, 0.0000000, 0.0000000, 0.0000000, 0.0000000]"
    assert written("urscript", text)[2:6] == [
        f"  movec({pose.format('0.010')}, {pose.format('0.020')}, a=1, v=0.1, r=0.0001)",
        f"  movec(p[0.5,0.005,0,0,0,0], {pose.format('0.030')}, a=1, v=0.1, r=0.0001)",
        f"  movec({pose.format('0.040')}, {pose.format('0.050')}, a=1, v=0.1, r=0.0001)",
        f"  movec({pose.format('0.060')}, p[0.9,0,0,0,0,0], a=1, v=0.1, r=0.01)",
    ]
    position = "P[{}]{{\n   GP1:\n\tUF : 0, UT : 1, CONFIG : 'N U T, 0, 0, 0',\n\tX = {} mm, Y = {} mm, Z = 0 mm,\n\tW = 0 deg, P = 0 deg, R = 0 deg\n}};\n"  # noqa: E501
    points = position.format(1, 0, 0) + position.format(2, 500, 5) + position.format(3, 900, 0)
    text = f"/PROG A\n/ATTR\nLINE_COUNT = 2;\n/MN\n   1:L P[1] 50mm/sec FINE ;\n   2:C P[2]    \n    :  P[3] 50mm/sec FINE    ;\n/POS\n{points}/END\n"  # noqa: E501
    lines = written("fanuc", text, Given(tools={"1": Pose()}))
    assert lines[2] == "LINE_COUNT = 5;"
    assert lines[5:13] == [
        "    :C P[4]", "    :  P[5] 50mm/sec CNT100 ;", "   2:C P[2]", "    :  P[6] 50mm/sec CNT100 ;",
        "    :C P[7]", "    :  P[8] 50mm/sec CNT100 ;", "    :C P[9]    ", "    :  P[3] 50mm/sec FINE    ;",
    ]  # fmt: skip


def test_an_arc_of_one_point_is_left_and_named():
    program = parsed({"a.script": b"def a():\n  movel(p[0,0,0,0,0,0])\n  movec(p[0.5,0.005,0,0,0,0])\nend\n"})
    (left,) = program.skipped
    assert (left.line, left.reason) == (3, "an arc without a second point")


def named(done):
    (finding,) = (w for w in done.warnings if w.code == "no-points-inserted")
    assert finding.data["off"] > TOLERANCE
    assert 2 not in done.changes.inserted
    return finding.text


def test_an_arc_whose_tool_may_turn_in_another_way_stays_one_and_is_named(robot):
    turning = circle(np.radians(130), turn=(0.4, -0.5, 0.3))
    assert "with the path" in named(compensate(robot, program_of(robot, "rapid", turning), FORCE, densify=TOLERANCE))
    aside = circle(np.radians(130), via_turn=(0.0, 0.1, 0.0))
    assert "auxiliary point" in named(compensate(robot, program_of(robot, "fanuc", aside), FORCE, densify=TOLERANCE))
    krl = program_of(robot, "krl", circle(np.radians(130)))
    (name,) = krl.files
    along = krl.files[name].replace(b"CIRC", b"$CIRC_TYPE = #PATH\r\nCIRC")
    assert "sets $CIRC_TYPE = #PATH" in named(compensate(robot, parsed({name: along}), FORCE, densify=TOLERANCE))
    script = program_of(robot, "urscript", circle(np.radians(130)))
    (name,) = script.files
    fixed = script.files[name].replace(b"v=0.05) #", b"v=0.05, mode=1) #")
    assert fixed != script.files[name]
    assert "(mode)" in named(compensate(robot, parsed({name: fixed}), FORCE, densify=TOLERANCE))


def test_a_tool_that_turns_with_the_path_may_be_one_of_both_ways(robot):
    """About the axis of the arc both ways to turn are one."""
    places, turns, axis = circle(np.radians(130))
    about = Rotation.from_rotvec(np.array([0.0, 0.5, 1.0])[:, None] * np.radians(130) * axis).as_matrix() @ turns[0]
    done = compensate(robot, program_of(robot, "rapid", (places, about, axis)), FORCE, densify=TOLERANCE)
    assert len(done.changes.inserted[2].positions) > 3
    assert done.along.off[-1] < TOLERANCE


def test_where_the_correction_jumps_the_shortest_pieces_are_kept_and_named(robot):
    """A force that turns about takes the backlash of A5 to its other side."""
    force = np.zeros((4, 6))
    force[1:, :3] = [[-900.0, 300, -700], [0, 200.0, -300], [900.0, 100, 700]]
    program = program_of(robot, "krl", circle(np.radians(220)))
    done = compensate(robot.with_parameters({"A5.gap": 4e-4}), program, force, densify=TOLERANCE)
    (finding,) = (w for w in done.warnings if w.code == "no-points-inserted")
    assert "cannot be shorter" in finding.text
    assert finding.data["off"] == done.along.off[-1] > 5e-5
    steps = np.linalg.norm(np.diff(done.changes.inserted[2].positions, axis=0), axis=1)
    assert 0.25 < np.degrees(steps.min() / 0.4) < 0.5  # no piece is shorter than half a degree


def test_pieces_follow_one_another_with_the_auxiliary_point_in_the_middle_of_one(robot):
    done = compensate(robot, program_of(robot, "krl", circle(np.radians(200), bend=0.3)), FORCE)
    rows = np.arange(1, 4)
    (frame,) = set(done.job.placed.frames)
    one, three, two = (np.array([i]) for i in range(3))
    arcs = Arcs(
        done.job.placed.model, done.job.targets(rows, frame), done.job.loads.at(rows, frame),
        done.commands.picked(rows), one, two, None, None, None, three,
    )  # fmt: skip
    counts = []
    for tolerance in (1.0, 1e-4, 5e-6, 1e-6):
        pieces, failed = split(arcs, tolerance, np.radians(0.5))
        assert failed.tolist() == [0]
        assert (pieces.error < tolerance).all()
        ends = np.append(pieces.low, PARTS)
        np.testing.assert_array_equal(ends[:-1] + pieces.width, ends[1:])
        assert ends[0] == 0
        assert (pieces.low + pieces.width // 2 == PARTS // 2).sum() == 1
        counts.append(len(pieces.move))
    assert counts[0] == 1
    assert counts == sorted(set(counts))
    middle = arcs.circles.at(arcs.circles.share(np.array([0.5])))
    np.testing.assert_allclose(middle, done.job.placed.position[[2]], atol=1e-12)
    assert arcs.circles.bend[0] == pytest.approx(0.3, abs=1e-6)
    assert arcs.circles.length[0] == pytest.approx(0.4 * np.radians(200), abs=1e-6)


def test_taught_arcs_become_several_where_the_unloaded_arm_goes(robot):
    program = program_of(robot, "krl", circle(np.radians(200)))
    plain = compensate(robot, program, FORCE, taught=True)
    done = compensate(robot, program, FORCE, taught=True, densify=TOLERANCE)
    assert plain.along.off[-1] > 10 * TOLERANCE
    assert done.along.off[-1] < 1.1 * TOLERANCE
    nominal = compensate(robot, program, FORCE, densify=TOLERANCE).changes.inserted[2].positions
    own = done.changes.inserted[2].positions
    assert min(np.linalg.norm(nominal - p, axis=1).min() for p in own) > 3e-4  # the unloaded arm hangs


@pytest.mark.parametrize(
    ("when", "split"), [("DISTANCE=0", True), ("DISTANCE = 1", False), ("PATH=-20", False), ("PATH=0 ONSTART", False)]
)
@pytest.mark.parametrize("word", ["CIRC", "LIN"])
def test_a_motion_from_whose_end_a_trigger_counts_stays_one_and_is_named(robot, when, split, word):
    """A further point between would be the one that it counts from."""
    program = program_of(robot, "krl", circle(np.radians(130)))
    (name,) = program.files
    data = program.files[name]
    if word == "LIN":
        data = re.sub(rb"CIRC \{[^}]*\},", b"LIN ", data)
    own = data.replace(word.encode() + data.split(word.encode())[-1], b"", 1)
    data = own + f"TRIGGER WHEN {when} DELAY=0 DO $OUT[1]=TRUE\r\n".encode() + data[len(own) :]
    done = compensate(robot, parsed({name: data}), FORCE, densify=TOLERANCE)
    assert (2 in done.changes.inserted) == split
    assert [w.data["line"] for w in done.warnings if w.code == "no-points-inserted"] == ([] if split else [9])
    if not split:
        assert "TRIGGER" in named(done)


def test_further_points_of_rapid_are_passed_without_waiting(robot):
    program = program_of(robot, "rapid", circle(np.radians(130)))
    (name,) = program.files
    data = program.files[name].replace(b", p3,v50,fine,", b", p3,v50,fine\\Inpos:=inpos50,")
    assert data != program.files[name]
    lines = compensate(robot, parsed({name: data}), FORCE, densify=TOLERANCE).files[name].splitlines()
    arcs = [line for line in lines if b"MoveC" in line]
    assert [b"Inpos" in line for line in arcs] == [False] * (len(arcs) - 1) + [True]
    assert len(arcs) > 2
