"""Where a cutter enters and leaves: its force grows along a lead-in and falls along a lead-out, from the lengths."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

import elastocal as ec
from elastocal.compensation import verdict
from elastocal.compensation.loads import Milling
from elastocal.compensation.process import ProcessLoad
from elastocal.files.robot.read import read_robot
from elastocal.spatial.pose import Pose

CUTTER = Milling(specific_force=9e8, axial_depth=4e-3, radial_engagement=8e-3, diameter=2e-2, teeth=2, spindle=100.0)
FORCE = 9e8 * 4e-3 * 8e-3 * 0.05 / (np.pi * 2e-2 * 100)
HEAD = """DEF part( )
$BASE={X 1750,Y 0,Z 800,A 0,B 0,C 0}
$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}
$VEL.CP=0.05
PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}
"""


def at(x, y, z=0):
    return f"{{X {x:.4f},Y {y:.4f},Z {z},A 0,B 0,C 180}}"


# beside the part, a quarter circle of 40 mm to the side at x 40, the side in two lines, a quarter circle away from it
S = 40 * np.sqrt(0.5)
LEADS = (
    HEAD + f"LIN {at(0, -40, 20)}\nLIN {at(0, -40)}\nCIRC {at(40 - S, S - 40)},{at(40, 0)}\n"
    f"LIN {at(100, 0)}\nLIN {at(160, 0)}\nCIRC {at(160 + S, S - 40)},{at(200, -40)}\nLIN {at(200, -40, 20)}\nEND\n"
)
IN, OUT, CUT = (8, 8), (11, 11), ((9, 10),)


@pytest.fixture(scope="module")
def robot():
    return read_robot("kuka-kr270")


def load(leads=(IN, OUT), lines=CUT, cutter=CUTTER):
    return ProcessLoad(milling=cutter, lines=lines, lead_lines=leads)


def test_the_force_grows_with_the_way_into_the_material_and_falls_with_the_way_out(robot) -> None:
    done = ec.compensate(robot, ec.read_program(LEADS, "krl"), load=load())
    assert [m.line for m in done.program.moves] == [5, 6, 7, 8, 9, 10, 11, 12]
    size = np.linalg.norm(done.job.loads.moving[:, :, :3], axis=2) / FORCE
    wanted = {8: (0, 0.5, 1), 9: (1, 1, 1), 10: (1, 1, 1), 11: (1, 0.5, 0)}
    expected = [wanted.get(m.line, (0, 0, 0)) for m in done.program.moves]
    np.testing.assert_allclose(size, expected, atol=1e-6)
    # targets in order: beside the part, down, half in, in, half of the side, its end, half out, out, up
    stations = np.linalg.norm(done.job.loads.wrench[:, :3], axis=1) / FORCE
    np.testing.assert_allclose(stations[-9:], [0, 0, 0.5, 1, 1, 1, 0.5, 0, 0], atol=1e-6)
    # along the circle the force is against its tangent
    along = done.job.loads.moving[3, 1, :3]
    np.testing.assert_allclose(along / np.linalg.norm(along), [-np.sqrt(0.5), -np.sqrt(0.5), 0], atol=1e-6)


def test_with_leads_nothing_turns_at_once(robot) -> None:
    """Said without them: the whole force comes at the first target of the circle, 0.2 mm aside."""
    program = ec.read_program(LEADS, "krl")
    led = ec.compensate(robot, program, load=load(), densify=1e-5)
    sudden = ec.compensate(robot, program, load=load(leads=(), lines=((8, 11),)), densify=1e-5)
    assert sudden.along.most > 1.5e-4
    assert sudden.along.at_turn
    assert "(lead_lines)" in next(f for f in sudden.verdict if f.code == "between-targets").text
    assert led.along.most < 1.1e-5
    assert not led.leaves_way


def test_a_lead_of_several_moves_counts_their_whole_way(robot) -> None:
    """A line of 30 mm, then the quarter circle of 40 mm: 62.8 of 92.8 mm are still to come behind the line."""
    text = LEADS.replace(f"LIN {at(0, -40)}\n", f"LIN {at(0, -70)}\nLIN {at(0, -40)}\n")
    done = ec.compensate(robot, ec.read_program(text, "krl"), load=load(leads=((8, 9),), lines=((10, 12),)))
    size = np.linalg.norm(done.job.loads.moving[:, :, :3], axis=2) / FORCE
    line = 30 / (30 + 20 * np.pi)
    np.testing.assert_allclose(size[3], [0, line, line], atol=1e-6)
    np.testing.assert_allclose(size[4], [line, (1 + line) / 2, 1], atol=1e-6)


def test_the_force_grows_along_the_chords_of_an_arc(robot) -> None:
    text = "G21 G90 G54\nG0 X0 Y-40 Z20\nG1 Z0 F3000\nG2 X40 Y0 I40 J0\nG1 X160\nG2 X200 Y-40 I0 J-40\nG0 Z20\n"
    program = ec.read_program(
        text, "gcode", bases={"G54": Pose(np.eye(3), np.array([1.75, 0.0, 0.8]))},
        tools={"T0": Pose(np.eye(3), np.array([0.0, 0.1, 0.2]))},
        orientation=Rotation.from_euler("x", 180, degrees=True).as_matrix(),
    )  # fmt: skip
    near = np.radians([0.0, -90, 90, 0, 90, 0])
    done = ec.compensate(robot, program, load=load(leads=((4, 4), (6, 6)), lines=((5, 5),)), near=near)
    at, size = done.job.placed, np.linalg.norm(done.job.loads.wrench[:, :3], axis=1) / FORCE
    moves = [m.line for m in done.program.moves]
    assert moves == [2, 3, 4, 5, 6, 7]
    x, y = 1e3 * (at.position[:, :2] - [1.75, 0]).T
    for number, centre, before in ((2, 40, False), (4, 160, True)):
        inner = at.stations.arcs[number]
        assert len(inner) > 10
        turned = np.arctan2(x[inner] - centre, y[inner] + 40) / (np.pi / 2)
        np.testing.assert_allclose(size[inner], 1 - turned if before else 1 + turned, atol=1e-4)


@pytest.mark.parametrize(
    ("leads", "lines", "line"),
    [(((9, 9),), ((8, 11),), 9), (((8, 11),), ((8, 11),), 8)],
    ids=["between moves with load", "nothing with the whole force"],
)
def test_a_lead_is_between_a_move_without_load_and_one_with(robot, leads, lines, line) -> None:
    with refused("no-lead", None, parameter="lead_lines", line=line):
        ec.compensate(robot, ec.read_program(LEADS, "krl"), load=load(leads, lines))


def test_leads_need_milling_and_lines_that_there_are(robot) -> None:
    with refused("leads-without-milling", (IN,), parameter="lead_lines"):
        ProcessLoad(wrench=np.array([0, 0, -500.0, 0, 0, 0]), lead_lines=(IN,))
    for leads, lines, parameter, missed in (
        (((80, 90),), CUT, "lead_lines", (80, 90)),
        ((IN, (2, 2), OUT), CUT, "lead_lines", (2, 2)),  # where $BASE is set, beside two that there are
        ((IN, OUT), (*CUT, (99, 99)), "load_lines", (99, 99)),
    ):
        with refused("no-target-in-lines", missed, parameter=parameter):
            ec.compensate(robot, ec.read_program(LEADS, "krl"), load=load(leads, lines))


def test_a_lead_is_where_the_cutter_cuts(robot) -> None:
    """Line 5 is PTP: nothing grows along it, whatever the other leads are."""
    with refused("no-lead", None, parameter="lead_lines", line=5):
        ec.compensate(robot, ec.read_program(LEADS, "krl"), load=load(leads=(IN, (5, 5), OUT)))


def by_length(robot, text, length, lines=((8, 11),), leads=()):
    process = ProcessLoad(milling=CUTTER, lines=lines, lead_lines=leads, lead_length=length)
    done = ec.compensate(robot, ec.read_program(text, "krl"), load=process)
    finding = next(f for f in done.warnings if f.code == "leads-by-length")
    return done, finding.data["leads"], finding.data["sudden"]


def test_leads_of_every_cut_by_their_length(robot) -> None:
    """The quarter circles are 62.8 mm long; both, at two depths, as if their lines were named."""
    cut = LEADS.partition(HEAD)[2].removesuffix("END\n")
    text = HEAD + cut + cut.replace(",Z 0,", ",Z -3,") + "END\n"
    lines, named = ((8, 11), (15, 18)), (IN, OUT, (15, 15), (18, 18))
    done, leads, sudden = by_length(robot, text, 0.063, lines)
    assert (leads, sudden) == (named, ())
    asked = ec.compensate(robot, ec.read_program(text, "krl"), load=load(named, lines))
    np.testing.assert_array_equal(done.job.loads.moving, asked.job.loads.moving)
    assert by_length(robot, text, 0.062, lines)[1:] == ((), (8, 11, 15, 18))
    # a cut in which leads are named has these alone
    assert by_length(robot, text, 0.063, lines, ((11, 11),))[1:] == (((15, 15), (18, 18)), ())


def test_a_lead_by_length_may_have_several_moves_but_no_corner_into_the_cut(robot) -> None:
    line = f"LIN {at(0, -40)}\n"
    several = LEADS.replace(line, f"LIN {at(0, -70)}\n{line}")
    assert by_length(robot, several, 0.093, ((8, 12),))[1:] == (((8, 9), (12, 12)), ())
    corner = LEADS.replace(f"CIRC {at(40 - S, S - 40)},{at(40, 0)}", f"LIN {at(40, 0)}")
    assert by_length(robot, corner, 0.063)[1:] == (((11, 11),), (8,))
    # where nothing of a cut would have the whole force, none is taken
    assert by_length(robot, LEADS, 0.2)[1:] == ((), (8, 11))


def test_leads_by_length_need_milling_and_a_length() -> None:
    with refused("leads-without-milling", 0.05, parameter="lead_length"):
        ProcessLoad(wrench=np.array([0, 0, -500.0, 0, 0, 0]), lead_length=0.05)
    with refused("range", 0.0, parameter="lead_length"):
        ProcessLoad(milling=CUTTER, lead_length=0.0)


SHARED = """MODULE m
PERS wobjdata part:=[FALSE,TRUE,"",[[1750,0,800],[1,0,0,0]],[[0,0,0],[1,0,0,0]]];
PERS tooldata mill:=[TRUE,[[0,100,200],[1,0,0,0]],[1,[0,0,0],[1,0,0,0],0,0,0]];
CONST robtarget out:=[[0,-40,0],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]];
CONST robtarget a:=[[40,0,0],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]];
CONST robtarget b:=[[120,0,0],[0,1,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]];
PROC main()
MoveJ out,v50,fine,mill\\WObj:=part;
MoveL a,v50,fine,mill\\WObj:=part;
MoveL b,v50,fine,mill\\WObj:=part;
MoveL a,v50,fine,mill\\WObj:=part;
MoveL b,v50,fine,mill\\WObj:=part;
ENDPROC
ENDMODULE
"""


def test_a_target_that_is_gone_to_again_keeps_the_force_of_its_first_move(robot) -> None:
    """The lead-out ends at b without force, where the cut first came with all of it."""
    leads = load(leads=((9, 9), (12, 12)), lines=((10, 11),))
    done = ec.compensate(robot, ec.read_program(SHARED, "rapid"), load=leads, near=np.radians([0.0, -90, 90, 0, 90, 0]))
    size = np.linalg.norm(done.job.loads.moving[:, :, :3], axis=2) / FORCE
    np.testing.assert_allclose(size[:, [0, 2]], [[0, 0], [0, 1], [1, 1], [1, 1], [1, 0]], atol=1e-6)
    stations = np.linalg.norm(done.job.loads.wrench[:, :3], axis=1) / FORCE
    np.testing.assert_allclose(stations, [0, 1, 1], atol=1e-6)


def test_a_lead_is_proposed_where_the_load_comes_and_goes_not_at_corners_between() -> None:
    """For the first and the last move with load, and those beside them."""
    loaded = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0])
    moves = [SimpleNamespace(line=i) for i in range(len(loaded))]
    job = SimpleNamespace(loads=SimpleNamespace(moving=np.einsum("m,mij->mij", loaded, np.ones((12, 3, 6)))))
    result = SimpleNamespace(job=job, program=SimpleNamespace(moves=moves))
    assert [i for i in range(2, 10) if verdict._enters(result, moves[i])] == [2, 3, 4, 7, 8, 9]


def test_a_cut_that_ends_with_the_program_is_left_there(robot) -> None:
    """Lines in a row and one across, the first a lead: the force turns at once only where the last one begins."""
    text = HEAD + f"LIN {at(0, 0, 20)}\nLIN {at(0, 0)}\nLIN {at(50, 0)}\nLIN {at(100, 0)}\n"
    text += f"LIN {at(150, 0)}\nLIN {at(200, 0)}\nLIN {at(200, 60)}\nEND\n"
    done = ec.compensate(robot, ec.read_program(text, "krl"), load=load(((8, 8),), ((9, 12),)))
    (finding,) = (f for f in done.verdict if f.code == "between-targets")
    assert finding.data["line"] == 12
    assert "(lead_lines" in finding.text
