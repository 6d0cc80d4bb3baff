"""The library call: from a robot or a calibration, a program and a load to a Correction, without any file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracle.programs import EXAMPLES
from oracle.refusals import refused

import elastocal as ec
from elastocal.compensation.correction import Correction
from elastocal.compensation.process import LineLoads, ProcessLoad
from elastocal.compensation.targets import TargetStatus
from elastocal.compensation.verdict import predicted_rms
from elastocal.errors import InputError
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.gear_harmonics import GearHarmonics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.reduction.prediction import IdentifiedModel

FORCE = [-400.0, 0, -150, 0, 0, 0]
SQUARE = """DEF square( )
$BASE={X 1750,Y -80,Z 800,A 0,B 0,C 0}
$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}
PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}
PTP {X 0,Y 0,Z 50,A 0,B 0,C 180}
LIN {X 0,Y 0,Z 0,A 0,B 0,C 180}
LIN {X 100,Y 0,Z 0,A 0,B 0,C 180}
LIN {X 100,Y 50,Z 0,A 0,B 0,C 180}
LIN_REL {A 10}
END
"""


@pytest.fixture(scope="module")
def robot():
    return read_robot("kuka-kr270")


@pytest.fixture(scope="module")
def done(robot):
    return ec.compensate(robot, ec.read_program(SQUARE, "krl"), wrench=FORCE)


def test_the_loaded_tool_is_where_the_program_says(robot, done) -> None:
    at = done.job.placed
    row = 3
    load = AppliedWrenches(at.frames[row], np.array([FORCE]))
    q = done.commands.command[[row]]
    place, _ = frame_pose(at.model, q, equilibrium(at.model, q, [load]), at.frames[row])
    np.testing.assert_allclose(place[:, 0], [1.85, -0.08, 0.8], atol=1e-9)
    assert np.linalg.norm(done.before.position[row]) > 1e-3
    np.testing.assert_allclose(done.after.position[2:], 0, atol=2e-7)


def test_every_motion_counts(done) -> None:
    """LIN_REL by an angle is no target: five of six motions are corrected, not five of five."""
    assert done.motions == (5, 6)
    assert [s.line for s in done.left] == [9]
    motions, rounding, *_, last = done.verdict
    assert (motions.code, motions.data["corrected"], motions.data["motions"]) == ("motions", 5, 6)
    assert rounding.code == "rounding"
    assert rounding.data["max"] < 1e-6
    assert (last.code, last.severity) == ("mixed", "warning")


def test_of_which_nothing_is_corrected_no_program_is_written(robot, tmp_path) -> None:
    first = "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}\n"
    program = ec.read_program(SQUARE.replace("X 1750", "X 7750").replace(first, ""), "krl")
    far = ec.compensate(robot, program, wrench=FORCE, near=np.radians([0, -90, 90, 0, 90, 0]))
    assert far.unchanged
    assert far.verdict[-1].code == "nothing-corrected"
    with pytest.raises(InputError) as refused:
        far.write(tmp_path)
    assert refused.value.code == "nothing-corrected"
    assert not list(tmp_path.iterdir())


def test_a_force_acts_on_lines_only_unless_it_is_said(robot, done) -> None:
    loads = done.job.loads.wrench
    assert not loads[:2].any()
    np.testing.assert_array_equal(loads[2:], [FORCE] * 3)
    assert {f.code: f.data["targets"] for f in done.warnings if "air" in f.code} == {"load-not-on-air-moves": 2}
    program = ec.read_program(SQUARE, "krl")
    everywhere = ec.compensate(robot, program, load=ProcessLoad(wrench=np.array(FORCE), air_moves=True))
    assert everywhere.job.loads.wrench.all(axis=0).tolist() == [v != 0 for v in FORCE]
    assert "load-on-air-moves" in [f.code for f in everywhere.warnings]
    named = ec.compensate(robot, program, load=ProcessLoad(wrench=np.array(FORCE), lines=((5, 6),)))
    assert named.job.loads.wrench.any(axis=1).tolist() == [False, True, True, False, False]
    axes = "DEF a( )\n$TOOL={X 0,Y 0,Z 0,A 0,B 0,C 0}\nPTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}\nEND\n"
    with pytest.raises(InputError) as refused:
        ec.compensate(robot, ec.read_program(axes, "krl"), wrench=FORCE)
    assert refused.value.code == "load-acts-nowhere"


def test_a_target_that_a_joint_move_reaches_first_is_under_the_load_of_its_line(robot) -> None:
    text = SQUARE.replace("PTP {X 0,Y 0,Z 50,", "PTP {X 0,Y 0,Z 0,")
    shared = text.replace("PTP {X 0,Y 0,Z 0,A 0,B 0,C 180}", "PTP P1").replace(
        "LIN {X 0,Y 0,Z 0,A 0,B 0,C 180}", "LIN P1"
    )
    files = {"s.src": shared, "s.dat": "DEFDAT s\nDECL POS P1={X 0,Y 0,Z 0,A 0,B 0,C 180,S 2,T 35}\nENDDAT\n"}
    found = ec.compensate(robot, ec.read_program(files), wrench=FORCE)
    assert found.job.loads.wrench.any(axis=1).tolist() == [False, True, True, True]


def test_results_are_short_to_look_at_and_whole_to_work_with(done) -> None:
    assert len(repr(done)) < 1500
    assert "<pre>" in done._repr_html_()
    rows = done.rows()
    assert len(done.to_frame()) == len(rows) == 5
    assert rows[2]["status"] == TargetStatus.CORRECTED.name
    assert rows[2]["line"] == 6
    correction = np.array([rows[2][f"correction_{c}"] for c in "xyz"])
    np.testing.assert_allclose(correction, done.shift[2, :3])
    assert np.linalg.norm(correction) == pytest.approx(rows[2]["before"], rel=0.01)
    assert np.isnan(rows[2]["predicted_rms"])


def test_a_result_names_the_flange_that_tools_were_taken_at(done) -> None:
    assert f"tools at {done.method.flange}" in str(done)
    assert str(done.commands) == repr(done.commands)
    assert len(repr(done.commands)) < 200


def test_a_calibration_predicts_the_residual_error(robot) -> None:
    names = ("A2.k", "A3.k")
    sd = np.array([0.03 * robot.parameters.values[robot.parameters.index(n)] for n in names])
    known = IdentifiedModel(robot, names, np.diag(sd**2), float("nan"))
    found = ec.compensate(known, ec.read_program(SQUARE, "krl"), wrench=FORCE)
    codes = [f.code for f in found.verdict]
    assert codes[2] == "predicted"
    assert found.verdict[2].data["rms"] == pytest.approx(predicted_rms(found))
    assert 5e-6 < predicted_rms(found) < 2e-4
    assert np.isfinite(found.predicted).all()


class Like:
    """What a calibration from readings has: its robot with base and tool as they were measured."""

    def __init__(self, robot, names, covariance) -> None:
        self.robot, self.names, self.covariance = robot, names, covariance
        self.discrepancy, self.freedom, self.placed = 2e-5, 40.0, True

    def registered(self, flange):
        assert flange == "flange"
        return self.robot, self.names, self.covariance


def test_a_calibration_from_readings_is_taken_as_it_is(robot) -> None:
    found = ec.compensate(Like(robot, ("A2.k",), np.eye(1) * 1e-16), ec.read_program(SQUARE, "krl"), wrench=FORCE)
    assert found.known is not None
    assert found.known.covariance.shape == (1, 1)
    assert (found.predicted > np.sqrt(3) * 2e-5).all()
    with pytest.raises(InputError) as refused:
        ec.compensate("kuka-kr270", ec.read_program(SQUARE, "krl"))
    assert refused.value.code == "no-robot"


def test_contributions_that_cancel_are_said_to(robot) -> None:
    """A joint zero that lifts the arm by what its weight bends: the weight is larger than all together."""
    arm = robot.without("gravity_compensator")
    weight = ec.compensate(arm, ec.read_program(SQUARE, "krl")).contributions.weight.position[2, 2]
    zeros = np.linspace(-4e-3, 4e-3, 9)
    best = min(
        (arm.with_parameters({"A2.offset": z}) for z in zeros),
        key=lambda m: ec.compensate(m, ec.read_program(SQUARE, "krl")).before.distances().rms,
    )
    known = IdentifiedModel(best, ("A2.k",), np.array([[1e-16]]), float("nan"))
    found = ec.compensate(known, ec.read_program(SQUARE, "krl"))
    parts = found.contributions
    assert weight < -1e-4
    assert parts.cancel
    part, whole = (p.distances().rms for p in (parts.weight, parts.total))
    assert part > whole
    (exact,) = [f for f in found.verdict if f.code == "taken-as-exact"]
    assert exact.data["weight_rms"] == pytest.approx(part)
    assert "cancel" in exact.text
    (listed,) = [f for f in found.verdict if f.code == "contributions"]
    assert listed.data["cancel"]
    assert listed.data["weight"] == pytest.approx(part)
    assert listed.data["total"] == pytest.approx(whole)
    assert "CANCEL" in listed.text
    assert not ec.compensate(arm, ec.read_program(SQUARE, "krl")).contributions.cancel


def test_weight_that_the_file_does_not_state_is_no_weight_of_zero(robot) -> None:
    """Of an arm that bends: how far it sags is not known, unless the targets were taught with it."""
    light = robot.without("link_mass", "payload", "gravity_compensator")
    known = IdentifiedModel(light, ("A2.k",), np.array([[1e-16]]), float("nan"))
    for taught in (False, True):
        found = ec.compensate(known, ec.read_program(SQUARE, "krl"), wrench=FORCE, taught=taught)
        said = [f for f in found.verdict if f.code == "taken-as-exact" and "no masses" in f.text]
        assert bool(said) is not taught
        assert all(np.isnan(f.data["weight_rms"]) for f in said)


def test_files_and_folders(robot, tmp_path: Path) -> None:
    program = read_program(EXAMPLES / "contour.src")
    assert set(program.files) == {"contour.src", "contour.dat"}
    found = ec.compensate(robot, program, wrench=FORCE)
    places = found.write(str(tmp_path / "new"))
    assert sorted(Path(p).name for p in places) == ["contour.dat", "contour.src"]
    assert (tmp_path / "new" / "contour.src").read_bytes() == found.files["contour.src"]
    again = read_program(tmp_path / "new" / "contour.src")
    with refused("would-replace", file="contour.src", parameter="out"):
        ec.compensate(robot, again).write(tmp_path / "new")
    with refused("missing", parameter="language"):
        ec.read_program(SQUARE)


def test_loads_are_given_once_and_have_six_numbers(robot) -> None:
    program = ec.read_program(SQUARE, "krl")
    for words in (
        {"wrench": [1.0, 2.0]},
        {"wrench": FORCE, "load": ProcessLoad(payload=3.0)},
        {"wrench": np.zeros((3, 6))},
    ):
        with pytest.raises(InputError):
            ec.compensate(robot, program, **words)
    table = LineLoads("t", np.array([1.0]), np.zeros((1, 6)), np.array([np.nan]))
    with refused("load-twice"):
        ProcessLoad(wrench=np.array(FORCE), by_line=table)
    each = ec.compensate(robot, program, wrench=np.array([FORCE] * 5))
    np.testing.assert_array_equal(each.job.loads.wrench, [FORCE] * 5)


def test_a_payload_is_a_mass(robot) -> None:
    program = ec.read_program(SQUARE, "krl")
    whole, written = (ec.compensate(robot, program, load=ProcessLoad(payload=kg)) for kg in (50, 50.0))
    np.testing.assert_array_equal(whole.shift, written.shift)
    for kg in (-3.0, np.nan, np.inf):
        with refused("range", value=kg, parameter="payload"):
            ProcessLoad(payload=kg)


def test_an_effect_that_depends_on_the_angle_is_corrected_too(robot) -> None:
    """Gear harmonics move the unloaded arm by its joint values: the residual by the model is rounding as without."""
    waves = GearHarmonics(joint="A2", orders=(3.0,), sin=(2e-4,), cos=(1e-4,))
    wavy = replace(robot, elements=(*robot.elements, waves))
    found = ec.compensate(wavy, ec.read_program(SQUARE, "krl"), wrench=FORCE)
    assert found.after.distances().max < 3e-7
    plain = ec.compensate(robot, ec.read_program(SQUARE, "krl"), wrench=FORCE)
    assert np.linalg.norm(found.shift[2:, :3] - plain.shift[2:, :3], axis=1).max() > 5e-5


@pytest.mark.parametrize("first", ["LIN P9", "PTP P9"])
def test_a_point_of_a_loaded_line_and_an_unloaded_joint_move_is_named(first: str) -> None:
    """It is corrected for the load, whichever comes first; as one that lines alone lead to."""
    last = {"LIN P9": "PTP P9", "PTP P9": "LIN P9"}[first]
    head = "DEF l()\n$BASE={X 1650,Y -150,Z 750,A 0,B 0,C 0}\n$TOOL={X 0,Y 0,Z 250,A 0,B 0,C 0}\n"
    head += "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}\n"
    data = "DEFDAT l\nDECL E6POS P9={X 50,Y 0,Z 0,A 0,B 0,C 180}\nENDDAT\n"
    robot, force = read_robot("kuka-kr270"), [-400, 0, -150, 0, 0, 0]

    def corrected(*lines: str, wrench: list[int] = force) -> Correction:
        text = head + "\n".join((*lines, "END", ""))
        return ec.compensate(robot, read_program({"l.src": text, "l.dat": data}), wrench)

    done = corrected(first, "LIN {X 100,Y 0,Z 0,A 0,B 0,C 180}", last)
    loaded, unloaded = (5, 7) if first == "LIN P9" else (7, 5)
    said = f"P9 is corrected for the load of line {loaded}; line {unloaded} goes there without it."
    assert [w.text for w in done.warnings if w.code == "target-under-two-loads"] == [said]
    alone = corrected("LIN P9")
    assert done.files["l.dat"] == alone.files["l.dat"]
    for other in (alone, corrected(first, last, wrench=[0] * 6)):
        assert not [w for w in other.warnings if w.code == "target-under-two-loads"]


def test_a_line_that_stays_is_shown_as_it_stands_and_a_frame_that_changes_is_called_so() -> None:
    text = "def a():\n  set_tcp(p[0,0,0.15,0,0,0])\n  movej([3.1, -1.5, 1.5, -1.5, -1.5, 0])\n"
    program = read_program(text + "  movel(p[9.7,-0.1,0.35,3.1,0,0])  # far\nend\n", "urscript")
    done = ec.compensate(read_robot("ur10e"), program)
    assert [(s.line, s.text) for s in done.left] == [(4, "movel(p[9.7,-0.1,0.35,3.1,0,0]) # far")]
    changed = read_program({"m.mod": SHIFTED.replace("PROC main()\n", "PROC main()\nw1.uframe.trans.x:=1000;\n")})
    with refused("frame-unknown", "base w1 (m.mod, line 4)") as refusal:
        ec.compensate(read_robot("abb-irb4600-60"), changed)
    assert "base w1 (m.mod, line 4) is stated and then changed in m.mod, line 6:" in str(refusal.value)
    assert "stated nowhere" not in str(refusal.value)


SHIFTED = """MODULE m
PERS tooldata t1:=[TRUE,[[31.8,0,229.6],[0.945518576,0,0.325568154,0]],[1,[0,0,80],[1,0,0,0],0,0,0]];
PERS wobjdata w1:=[FALSE,TRUE,"",[[900,-100,300],[1,0,0,0]],[[0,0,0],[1,0,0,0]]];
CONST robtarget p1:=[[0,0,0],[0,0.707106781,0.707106781,0],[0,-1,1,0],[9E9,9E9,9E9,9E9,9E9,9E9]];
PROC main()
MoveAbsJ [[0,0,0,0,30,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v1000,fine,t1;
MoveL p1,v50,fine,t1\\WObj:=w1;
MoveL Offs(p1,300,0,0),v50,fine,t1\\WObj:=w1;
ENDPROC
ENDMODULE
"""


def test_a_shift_of_another_point_says_what_is_left_of_its_orientation() -> None:
    """The two points need different turns; the one of the shift is that of the point, and the difference is left."""
    robot, force = read_robot("abb-irb4600-60"), [-400.0, 0, -150, 0, 0, 0]
    done = ec.compensate(robot, read_program({"m.mod": SHIFTED}), force)
    turn = SHIFTED.replace(
        "Offs(p1,300,0,0)", SHIFTED.partition("p1:=")[2].partition(";")[0].replace("[[0,", "[[300,", 1)
    )
    apart = ec.compensate(robot, read_program({"m.mod": turn}), force)
    left = np.linalg.norm(apart.shift[2, 3:] - apart.shift[1, 3:])
    (said,) = (w for w in done.warnings if w.code == "orientation-of-another")
    assert said.data["max_angle"] == pytest.approx(left, rel=0.02)
    assert left > 1e-5
    assert said.text.startswith("Offs(p1) (m.mod, line 8): a shift of another point has the orientation of that point")
    assert [w.code for w in done.verdict][1] == "residual-by-model"
    assert f"{1e3 * said.data['max_angle']:.3g} mrad at most" in done.verdict[1].text
    assert not [w for w in apart.warnings if w.code == "orientation-of-another"]
    assert [w.code for w in apart.verdict][1] == "rounding"
    only = ec.compensate(robot, read_program({"m.mod": SHIFTED}), force, position_only=True)
    assert not [w for w in only.warnings if w.code == "orientation-of-another"]


def test_a_correction_that_no_arm_needs_is_refused_and_one_that_hardly_one_does_is_doubted(robot) -> None:
    """By weight as by load: compliances in a wrong unit bend the arm under its own weight."""
    program = ec.read_program(SQUARE, "krl")
    normal = ec.compensate(robot, program, wrench=FORCE)
    assert not [w for w in normal.warnings if w.code == "implausible-correction"]
    reach = 3.93

    def softer(times: float):
        names = [f"A{i}.k" for i in range(1, 7)]
        values = [times * robot.parameters.values[robot.parameters.index(n)] for n in names]
        return robot.with_parameters(dict(zip(names, values, strict=True)))

    doubted = ec.compensate(softer(50.0), program)
    (finding,) = (w for w in doubted.warnings if w.code == "implausible-correction")
    assert 0.005 * reach < finding.data["off"] < 0.03 * reach
    assert finding.data["weight"] > 0.9 * finding.data["off"]
    assert any("IMPLAUSIBLE" in f.text for f in doubted.verdict)
    for arm, wrench in ((softer(300.0), FORCE), (robot, [-200e3, 0, -100e3, 0, 0, 0])):
        with pytest.raises(InputError) as refusal:
            ec.compensate(arm, program, wrench=wrench)
        assert refusal.value.code == "implausible-correction"
        assert refusal.value.allowed == (pytest.approx(0.03 * reach, rel=0.01),)
        assert refusal.value.value > 0.03 * reach


def test_frames_that_are_stated_and_not_used_are_named(robot) -> None:
    pose = ec.Pose()
    program = ec.read_program(SQUARE, "krl", bases={"Teil": pose}, tools={"9": pose})
    codes = {w.code: w.data for w in ec.compensate(robot, program).warnings}
    assert codes["base-not-used"] == {"names": ("Teil",), "used": tuple(program.bases)}
    assert codes["tool-not-used"]["names"] == ("9",)
    table = ec.read_program("x_mm,y_mm,z_mm,a_deg,b_deg,c_deg\n1500,0,900,0,0,180\n", "csv",
                            bases={"BASE": pose}, tools={"tool": pose})  # fmt: skip
    done = ec.compensate(robot, table, near=np.radians([0, -90, 90, 0, 90, 0]))
    assert not {w.code for w in done.warnings} & {"base-not-used", "tool-not-used"}


def test_where_nothing_is_to_be_corrected_that_is_said(robot) -> None:
    """A rigid robot without load, and a line that is left: the program is no mixture."""
    kinds = {c.kind for c in robot.coordinates}
    rigid = robot.without(*kinds)
    done = ec.compensate(rigid, ec.read_program(SQUARE, "krl"))
    assert done.nothing
    assert done.files == done.program.files
    codes = [f.code for f in done.verdict]
    assert codes[0] == "nothing-to-correct"
    assert not {"mixed", "motions", "rounding", "between-targets"} & set(codes)
    assert not ec.compensate(robot, ec.read_program(SQUARE, "krl")).nothing
