"""elastocal new: a cell of any robot that works without editing."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import yaml
from app.cell_desk import typed, well, whole_cell
from app.conftest import Run

import elastocal as ec
from elastocal.app.calibrated import of_readings
from elastocal.app.commands.new import cell_contents
from elastocal.app.starter.program import square_program
from elastocal.app.starter.robot import OPEN
from elastocal.compensation.posts.post import language
from elastocal.files.calibration import read_calibration
from elastocal.files.robot.read import read_robot, robot_from_text, shipped_robots, shipped_text
from elastocal.model.frames import Frame
from elastocal.model.start_values import careful_payload, rated_payload_of
from elastocal.spatial.pose import Pose

BY_PARAMETERS = ("orthoglide-link", "scara-ruggeri")
"""No joints; markers that do not sit on the tool."""
ARMS = ("fanuc-m710ic50", "kuka-kr270", "kuka-kr5", "abb-irb4600-60")
STIFF = ("kuka-kr5",)
"""Its rated payload of 5 kg moves the tool by no more than twice the noise of the readings."""
ALIKE = ("abb-irb120", "fanuc-r2000ic165f", "kuka-kr210-r2700", "ur10e", "yaskawa-gp25")
"""Built like others: left out where every robot would take its time."""


@pytest.mark.parametrize("robot", [name for name in shipped_robots() if name not in ALIKE])
def test_plan_simulate_identify_run_for_every_shipped_robot(robot: str, tmp_path: Path, kr5_cell: Path) -> None:
    cell = kr5_cell if robot == "kuka-kr5" else whole_cell(tmp_path / "cell", robot)
    assert read_robot(cell / "robot" / "robot.yaml").parameters.names == read_robot(robot).parameters.names
    assert bool([p for p in (cell / "programs").iterdir() if p.stem.lower() == "square"]) == (
        robot != "orthoglide-link"
    )
    path = cell / "calibration" / "calibration.json"
    truth = {p.name: p.value for p in read_robot(cell / "truth" / "robot.yaml").parameters}
    if of_readings(path):
        made = ec.read_calibration(path)
        assert made.verdict.code in (("improved", "within-priors") if robot in STIFF else ("improved",))
        assert made.leave_one_out.mean < (1 if robot in STIFF else 0.3) * made.before.mean
        joints = [(e.value, truth.get(e.name, 0.0), e.sd) for e in made.parameters.rows if e.informed > 0.9]
    else:
        rows = [p for p in read_calibration(path).parameters if p.status == "estimated" and p.name in truth]
        joints = [(p.value, truth[p.name], p.sd) for p in rows]
    assert of_readings(path) == (robot not in BY_PARAMETERS)
    assert len(joints) >= 2
    assert all(abs(value - true) < 5 * sd for value, true, sd in joints)
    assert {line["state"] for line in well("status", cell, "--json").data["results"]} == {"up to date"}


def test_what_a_new_cell_holds(tmp_path: Path) -> None:
    made = well("new", tmp_path / "cell", "--robot", "scara-ruggeri", "--json").data
    files = {row["file"] for row in made["cell_files"]}
    assert files == {
        "cell.yaml", "README.md", "ASSUMPTIONS.md", ".gitignore", ".gitattributes", "robot/robot.yaml",
        "plan/plan.yaml", "truth/robot.yaml", "campaign/.gitkeep", "calibration/.gitkeep", "programs/.gitkeep",
        "reports/.gitkeep", "programs/square.csv",
    }  # fmt: skip
    assert all((tmp_path / "cell" / name).is_file() for name in files)
    shipped = resources.files("elastocal.robots").joinpath("scara-ruggeri.yaml").read_bytes()
    assert (tmp_path / "cell" / "robot" / "robot.yaml").read_bytes() == shipped


EXAMPLES = {"rapid": ("square.mod", b"MoveL"), "fanuc": ("SQUARE.LS", b"L P["), "krl": ("square.src", b"LIN"),
            "urscript": ("square.script", b"movel"), "jbi": ("SQUARE.JBI", b"MOV")}  # fmt: skip


@pytest.mark.parametrize("robot", [*ARMS, *ALIKE])
def test_the_example_program_is_reachable_and_corrected(robot: str, tmp_path: Path) -> None:
    cell = tmp_path / "cell"
    well("new", cell, "--robot", robot)
    got = well("compensate", cell, "--robot", cell, "--json").data
    assert "Every motion of the program is corrected." in got["verdict"][0]
    name, move = EXAMPLES[language(read_robot(robot))]
    old, new = (cell / "programs" / name), (cell / "programs" / "corrected" / name)
    assert old.read_bytes() != new.read_bytes()
    assert old.read_bytes().count(move) == new.read_bytes().count(move) == 5


def test_many_assumptions_are_counted_on_the_screen_and_listed_in_the_cell(tmp_path: Path, run: Run) -> None:
    made = run("new", tmp_path / "cell", "--robot", "kr270")
    listed = (tmp_path / "cell" / "ASSUMPTIONS.md").read_text(encoding="utf-8").count("\n| ") - 1
    assert listed > 100
    said = " ".join(made.out.split())
    assert f"{listed} assumptions stand in" in said
    kinds = said.rpartition("where to replace it: ")[2].rstrip(".").split(", ")
    assert sum(int(kind.split()[-1]) for kind in kinds) == listed
    assert len(made.out.splitlines()) <= 26  # a third of what was printed; long paths take lines of their own
    data = run("new", tmp_path / "other", "--robot", "kr270", "--json").data
    assert len(data["assumptions"]) == listed


def test_a_rated_payload_limits_loads_and_is_known_to_plan_and_compensate(tmp_path: Path, run: Run) -> None:
    cell = tmp_path / "cell"
    well("new", cell, "--robot", "irb4600", "--rated-kg", "8")
    plan = yaml.safe_load((cell / "plan" / "plan.yaml").read_text(encoding="utf-8"))
    assert {"kind": "payload", "most_kg": 8} in plan["feasible"]
    weight, rope = plan["loads"]
    assert max(weight["masses_kg"]) <= 8
    assert max(rope["sizes_N"]) <= 8 * 9.81
    got = run("compensate", cell, "--robot", cell / "truth" / "robot.yaml", "--json")
    assert got.code == 0, got.err
    assert not any("rated payload of the robot is not known" in note for note in got.data["notes"])
    for wrong in ("-5", "0", "inf", "nan"):
        assert run("new", tmp_path / "none", "--robot", "irb4600", "--rated-kg", wrong).code == 2
    assert not (tmp_path / "none").exists()


RATED = {
    "abb-irb120": 3.0, "abb-irb4600-60": 60.0, "fanuc-m710ic50": 50.0, "fanuc-r2000ic165f": 165.0,
    "kuka-kr210-r2700": 210.0, "kuka-kr270": 270.0, "kuka-kr5": 5.0, "ur10e": 12.5, "yaskawa-gp25": 25.0,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(RATED))
def test_plan_and_assumptions_of_a_shipped_robot_agree_on_its_rated_payload(name: str) -> None:
    """The text of the robot file states it a second time."""
    contents = cell_contents("c", name).contents
    plan = yaml.safe_load(contents[Path("plan/plan.yaml")])
    assert {"kind": "payload", "most_kg": RATED[name]} in plan["feasible"]
    stated = re.findall(r"[Rr]ated\s+payload (?:of )?([\d.]+) kg", contents[Path("robot/robot.yaml")])
    assert {float(kg) for kg in stated} == {RATED[name]}
    assert yaml.safe_load(contents[Path("robot/robot.yaml")])["rated_payload_kg"] == RATED[name]


@pytest.mark.parametrize("name", ["arm", "ur10e"])
def test_a_urdf_that_says_nothing_of_its_payload_gets_light_loads_that_are_called_a_guess(
    tmp_path: Path, name: str
) -> None:
    """Of its reach, up to 3 m, some are sold for 12 kg; a name proves nothing.  A longer tool carries less."""
    (tmp_path / "arm.urdf").write_text(bare_urdf().replace('name="abb_irb4600"', f'name="{name}"'))
    made = cell_contents("c", str(tmp_path / "arm.urdf"))
    plan = yaml.safe_load(made.contents[Path("plan/plan.yaml")])
    (limit,) = [f["most_kg"] for f in plan["feasible"] if f["kind"] == "payload"]
    assert 2 < limit < 12
    weight, rope = plan["loads"]
    assert max(weight["masses_kg"]) <= limit
    assert max(rope["sizes_N"]) <= 9.81 * limit
    assert [row.value for row in made.assumptions if row.what == "payload"] == [f"most_kg: {limit:g}"]
    assert any(note.startswith("the rated payload is not known") for note in made.notes)
    masses = re.findall(r"payload [^|]*?([\d.]+) ?kg|most_kg: ([\d.]+)", made.contents[Path("ASSUMPTIONS.md")])
    assert {float(kg) for both in masses for kg in both if kg} == {limit}
    robot = ec.read_robot(tmp_path / "arm.urdf")
    long = Frame("far", robot.tool, Pose(np.eye(3), np.array([0.0, 0.0, 1.0])), None, "", "assumed")
    longer = replace(robot, tree=replace(robot.tree, frames=(*robot.tree.frames, long)), tool="far")
    assert careful_payload(longer, robot.tool) < 0.9 * careful_payload(robot, robot.tool)
    assert careful_payload(robot, robot.tool) <= rated_payload_of(3.5)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x", encoding="utf-8")
    said = typed("new", tmp_path, "--robot", "kr270")
    assert said.code == 2
    assert "is not empty, and nothing in it is written over" in said.err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]
    said = typed("new", tmp_path / "mine.txt", "--robot", "kr270")
    assert said.code == 2
    assert "is a file" in said.err


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    well("new", tmp_path, "--robot", "scara")
    assert (tmp_path / "cell.yaml").is_file()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("kuka-kr720", "there is no robot 'kuka-kr720'; did you mean 'kuka-kr270'?"),
        ("kr27", "there is no robot 'kr27'"),
        ("kuka", "robot 'kuka' may be kuka-kr210-r2700 or kuka-kr270 or kuka-kr5; write more of its name"),
        ("arm.yaml", "arm.yaml: no such file"),
    ],
)
def test_a_robot_that_is_not_there(word: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    got = typed("new", "cell", "--robot", word)
    assert got.code == 2
    assert said in got.err
    assert not Path("cell").exists()


def test_a_part_of_a_name_is_the_same_robot_everywhere(tmp_path: Path) -> None:
    words = ("--at", "0,-90,90,0,30,0", "--force", "0,0,-1000", "--json")
    whole, part = (well("deflect", robot, *words).data for robot in ("kuka-kr270", "kr270"))
    assert whole == part


def test_a_robot_file_is_copied_as_it_is(tmp_path: Path, arm: Path) -> None:
    arm.write_text(arm.read_text(encoding="utf-8") + "# my own words\n", encoding="utf-8")
    well("new", tmp_path / "cell", "--robot", arm)
    assert (tmp_path / "cell" / "robot" / "robot.yaml").read_bytes() == arm.read_bytes()


PENDULUM = """\
<robot name="pendulum">
  <link name="base_link"/><link name="arm"/><link name="tip"/>
  <joint name="swing" type="revolute">
    <parent link="base_link"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="9" velocity="1"/>
  </joint>
  <joint name="end" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0.4 0 0"/></joint>
</robot>
"""


SPINDLE = """\
format: elastocal-robot/1
name: arm
source: written for a test
joints:
  - {name: J1, type: revolute, axis: [0, 0, 1], limits_deg: [-170, 170]}
  - {name: J2, type: revolute, xyz_mm: [0, 0, 700], axis: [0, 1, 0], limits_deg: [-80, 80]}
  - {name: J3, type: revolute, xyz_mm: [900, 0, 0], axis: [1, 0, 0], limits_deg: [-170, 170]}
  - {name: spindle, xyz_mm: [300, 0, 0]}
  - {name: m1, parent: J3, xyz_mm: [200, 150, 0]}
  - {name: plate, parent: J3, xyz_mm: [200, -150, 0]}
  - {name: lamp, parent: J2, xyz_mm: [100, 0, 90]}
tool: spindle
elements:
  - {kind: joint_compliance, joint: J1, k_urad_per_Nm: 2}
  - {kind: joint_compliance, joint: J2, k_urad_per_Nm: 2}
  - {kind: joint_compliance, joint: J3, k_urad_per_Nm: 9}
"""


def test_markers_beside_the_last_axis_are_watched_and_what_the_load_does_not_turn_is_not_sought(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(SPINDLE, encoding="utf-8")
    well("new", tmp_path / "cell", "--robot", tmp_path / "arm.yaml")
    path = tmp_path / "cell" / "plan" / "plan.yaml"
    text = path.read_text(encoding="utf-8")
    assert "markers: [m1, plate]\nseek: [J1.k, J2.k]   # what the poses are chosen for\n" in text
    assert "# Not chosen for: J3.k.  A load at spindle does not turn" in text
    well("plan", tmp_path / "cell", "--candidates", "60", "--restarts", "1")
    path.write_text(text.replace("seek: [J1.k, J2.k]", "seek: [J1.k, J2.k, J3.k]"), encoding="utf-8")
    said = typed("plan", tmp_path / "cell", "--candidates", "60", "--restarts", "1")
    assert said.code == 2
    assert "no candidate depends on J3.k: no load turns J3 (a force whose line meets an axis" in said.err


def test_a_robot_that_is_rigid_by_its_file_gets_careful_loads_that_are_called_a_guess(tmp_path: Path) -> None:
    (tmp_path / "pendulum.urdf").write_text(PENDULUM, encoding="utf-8")
    well("convert", tmp_path / "pendulum.urdf", tmp_path / "pendulum.yaml")
    made = well("new", tmp_path / "cell", "--robot", tmp_path / "pendulum.yaml", "--json").data
    assert any(row["what"] == "hanging" for row in made["assumptions"])
    plan = (tmp_path / "cell" / "plan" / "plan.yaml").read_text(encoding="utf-8")
    assert "a guess: by its file the robot is rigid" in plan
    assert "masses_kg: [5, 10]" in plan
    assert "sizes_N: [50, 100]" in plan
    readme = (tmp_path / "cell" / "README.md").read_text(encoding="utf-8")
    assert "The load on the tool is given by `--force`" in readme


AXES = (("0 0 0.495", "0 0 1"), ("0.175 0 0", "0 1 0"), ("0 0 0.9", "0 1 0"), ("0 0 0.175", "1 0 0"),
        ("0.96 0 0", "0 1 0"), ("0.135 0 0", "1 0 0"))  # fmt: skip


def bare_urdf() -> str:
    """An arm of six joints without a frame called flange or tool0, and without compliances."""
    text = '<robot name="abb_irb4600">' + "".join(f'<link name="link_{i}"/>' for i in range(7))
    for i, (xyz, axis) in enumerate(AXES):
        text += (
            f'<joint name="joint_{i + 1}" type="revolute"><origin xyz="{xyz}"/><parent link="link_{i}"/>'
            f'<child link="link_{i + 1}"/><axis xyz="{axis}"/><limit lower="-2" upper="2" effort="0" velocity="1"/>'
            "</joint>"
        )
    return text + "</robot>"


def test_a_urdf_without_a_flange_makes_a_cell_that_does_everything_at_once(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(bare_urdf())
    cell = tmp_path / "cell"
    made = well("new", cell, "--robot", tmp_path / "arm.urdf", "--rated-kg", "60", "--json").data
    rows = {row["what"]: row for row in made["assumptions"]}
    assert rows["flange"]["value"] == "joint_6"
    lines = (cell / "robot" / "robot.yaml").read_text().splitlines()
    place = rows["joint_2.k"]["where"]
    assert place.startswith("robot/robot.yaml, line ")
    near = " ".join(lines[int(place.rpartition(" ")[2]) - 1 :][:3])
    assert "joint_compliance" in near
    assert "joint_2" in near
    assert "| force on the tool |" in (cell / "ASSUMPTIONS.md").read_text()
    planned = well("plan", cell, "--json").data
    assert "and the values sought are assumed" in planned["verdict"][1]
    for command in ("simulate", "calibrate"):
        well(command, cell, "--json")
    got = well("compensate", cell, "--json").data
    assert "Every motion of the program is corrected." in got["verdict"][0]


def test_an_arm_that_looks_aside_at_zero_has_an_example_too() -> None:
    text = shipped_text("abb-irb4600-60").replace("xyz_mm: [0, 0, 495],", "xyz_mm: [0, 0, 495], rpy_deg: [0, 0, 90],")
    assert square_program(robot_from_text(text, "aside.yaml")) is not None


def chain(*joints: tuple[str, str, str, float, float]) -> str:
    """A URDF of joints one behind the other: type, place, axis and limits of each."""
    out = ['<robot name="arm"><link name="l0"/>']
    for i, (kind, place, axis, low, high) in enumerate(joints):
        out.append(
            f'<link name="l{i + 1}"/><joint name="j{i + 1}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
            f'<origin xyz="{place}"/><axis xyz="{axis}"/><limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'
            "</joint>"
        )
    return "".join([*out, "</robot>"])


R, P = "revolute", "prismatic"
OTHERS = {
    "seven joints": chain(
        (R, "0 0 0.34", "0 0 1", -2.9, 2.9), (R, "0 0 0", "0 1 0", -2, 2), (R, "0 0 0.4", "0 0 1", -2.9, 2.9),
        (R, "0 0 0", "0 -1 0", -2, 2), (R, "0 0 0.4", "0 0 1", -2.9, 2.9), (R, "0 0 0", "0 1 0", -2, 2),
        (R, "0 0 0.126", "0 0 1", -3, 3),
    ),
    "scara": chain(
        (R, "0 0 0.4", "0 0 1", -2.3, 2.3), (R, "0.35 0 0", "0 0 1", -2.6, 2.6), (P, "0.3 0 0", "0 0 -1", 0, 0.2),
        (R, "0 0 0", "0 0 1", -6.28, 6.28),
    ),
    "gantry": chain((P, "0 0 2", "1 0 0", 0, 3), (P, "0 0 0", "0 1 0", -1, 1), (P, "0 0 0", "0 0 -1", 0, 1)),
    "four joints": chain(
        (R, "0 0 0.6", "0 0 1", -3, 3), (R, "0.3 0 0", "0 1 0", -1.0, 1.5), (R, "0 0 1.2", "0 1 0", -1.5, 2),
        (R, "1.2 0 0", "0 0 1", -6, 6),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERS)
def test_any_urdf_gives_a_program_that_is_corrected(tmp_path: Path, run: Run, kind: str) -> None:
    (tmp_path / "arm.urdf").write_text(OTHERS[kind])
    assert run("new", tmp_path / "cell", "--robot", tmp_path / "arm.urdf").code == 0
    asked = yaml.safe_load((tmp_path / "cell" / "cell.yaml").read_text())["options"]["compensate"]
    program, robot = (tmp_path / "cell" / place for place in ("programs/square.csv", "robot/robot.yaml"))
    words = ("--near", asked["near"], f"--force={asked['force']}", "--json")
    got = run("compensate", program, "--robot", robot, *words)
    assert got.code == 0, got.err
    assert got.data["targets"] and {row["status"] for row in got.data["targets"]} == {"corrected"}  # noqa: PT018
    turned = [max(abs(row[f"turn_{c}_mrad"]) for c in "xyz") for row in got.data["targets"]]
    assert max(turned) < 30  # every corner asks for an orientation that the arm can hold there


DATA_SHEET = """Gelenk;θ [°];d [mm];a [mm];\N{GREEK SMALL LETTER ALPHA} [°];von [°];bis [°];convention
A1;0;675;260;-90;-185;185;standard
A2;0;0;680;0;-155;35;standard
A3;-90;0;-35;90;-130;154;standard
A4;0;-670;0;-90;-350;350;standard
A5;0;0;0;90;-130;130;standard
A6;180;-115;0;180;-350;350;standard
"""


PATHS = {"apt": ("square.apt", b"GOTO/"), "gcode": ("square.nc", b"G1 "), "csv": ("square.csv", b",3000")}


@pytest.mark.parametrize("language", [*EXAMPLES, *PATHS])
def test_a_data_sheet_gives_a_corrected_program_in_every_language(tmp_path: Path, run: Run, language: str) -> None:
    sheet = tmp_path / "my-arm.csv"
    sheet.write_text(DATA_SHEET, encoding="utf-8")
    made = run("new", tmp_path / "cell", "--robot", sheet, "--language", language)
    assert made.code == 0, made.err
    name, move = {**EXAMPLES, **PATHS}[language]
    old = (tmp_path / "cell" / "programs" / name).read_bytes()
    assert old.count(move) == 5
    got = run("compensate", tmp_path / "cell", "--robot", tmp_path / "cell" / "truth" / "robot.yaml", "--json")
    assert got.code == 0, got.err
    assert {row["status"] for row in got.data["targets"]} == {"corrected"}
    robot = read_robot(tmp_path / "cell" / "robot" / "robot.yaml")
    worlds = [f.pose.translation for f in robot.tree.frames if f.name == "world"]
    assert [list(1e3 * w) for w in worlds] == ([[0, 0, 675]] if language in ("fanuc", "jbi") else [])


def test_paths_of_cam_systems_get_the_corrections_of_the_controllers_own_program(tmp_path: Path, run: Run) -> None:
    """All that such a program leaves open stands in the cell and among the assumptions."""
    sheet, shifts = tmp_path / "my-arm.csv", {}
    sheet.write_text(DATA_SHEET, encoding="utf-8")
    for word in ("krl", *PATHS):
        cell = tmp_path / word
        well("new", cell, "--robot", sheet, "--language", word)
        got = run("compensate", cell, "--robot", cell / "truth" / "robot.yaml", "--json")
        rows = got.data["targets"][-5:]
        shifts[word] = [[row[f"shift_{c}_mm"] for c in "xyz"] for row in rows]
        assumed = (cell / "ASSUMPTIONS.md").read_text(encoding="utf-8")
        for key in yaml.safe_load((cell / "cell.yaml").read_text(encoding="utf-8"))["options"]["compensate"]:
            assert OPEN[key] in assumed
    for word in PATHS:
        assert shifts[word] == pytest.approx(np.array(shifts["krl"]), abs=2e-4)
        assert shifts[word][0] != [0, 0, 0]


def test_a_path_in_the_cell_of_another_language_is_refused_once_with_what_to_type(tmp_path: Path, run: Run) -> None:
    """What the refusal says can be typed as it stands."""
    sheet = tmp_path / "my-arm.csv"
    sheet.write_text(DATA_SHEET, encoding="utf-8")
    well("new", tmp_path / "krl", "--robot", sheet)
    well("new", tmp_path / "apt", "--robot", sheet, "--language", "apt")
    own = tmp_path / "krl" / "programs" / "own.apt"
    own.write_bytes((tmp_path / "apt" / "programs" / "square.apt").read_bytes())
    words = ("compensate", own, "--robot", tmp_path / "krl" / "robot" / "robot.yaml", "--force", "-100,0,-50")
    refused = run(*words)
    assert refused.code == 2
    said = refused.err.rpartition("such as: ")[2].split()
    assert said[::2] == ["--base", "--tool", "--orientation", "--near"]
    got = run(*words, *(f"{a}={b}" for a, b in zip(said[::2], said[1::2], strict=True)), "--json")
    assert got.code == 0, got.err
    assert [row["status"] for row in got.data["targets"]] == ["corrected"] * 5


def test_a_program_that_no_post_reads_is_named_beside_those_that_are_corrected(tmp_path: Path, run: Run) -> None:
    cell = tmp_path / "cell"
    well("new", cell, "--robot", "irb4600")
    (cell / "programs" / "part.drl").write_text("movej(posj(0,0,90,0,90,0))")
    got = run("compensate", cell, "--robot", cell / "truth" / "robot.yaml", "--json")
    assert got.code == 0, got.err
    assert any("part.drl is Doosan DRL" in note for note in got.data["notes"])
    alone = run("compensate", cell / "programs" / "part.drl", "--robot", cell / "truth" / "robot.yaml")
    assert (alone.code, "Doosan DRL" in alone.err) == (2, True)


def test_what_tells_the_language_is_said(tmp_path: Path, run: Run) -> None:
    for name in ("my-arm", "kr6"):
        (tmp_path / f"{name}.csv").write_text(DATA_SHEET, encoding="utf-8")
    assert "in krl, by the names of its axes" in run("new", tmp_path / "c", "--robot", tmp_path / "my-arm.csv").out
    assert "in krl, by the name kr6" in run("new", tmp_path / "d", "--robot", tmp_path / "kr6.csv").out


def test_a_path_of_a_shipped_robot_and_one_that_an_arm_cannot_hold(tmp_path: Path, run: Run) -> None:
    well("new", tmp_path / "known", "--robot", "irb4600", "--language", "apt")
    assert (tmp_path / "known" / "programs" / "square.apt").exists()
    (tmp_path / "arm.urdf").write_text(OTHERS["four joints"])
    made = run("new", tmp_path / "four", "--robot", tmp_path / "arm.urdf", "--language", "gcode")
    assert "the example program is a table: gcode states tool axes" in made.out
    assert (tmp_path / "four" / "programs" / "square.csv").exists()
    made = run("new", tmp_path / "krl", "--robot", tmp_path / "arm.urdf", "--language", "krl")
    assert "krl is left out: its axes are known for arms of six revolute joints only" in made.out


def test_a_language_is_refused_where_the_robot_file_says_it_or_nobody_knows_it(tmp_path: Path, run: Run) -> None:
    sheet = tmp_path / "my-arm.csv"
    sheet.write_text(DATA_SHEET, encoding="utf-8")
    assert (
        "valid: krl, rapid, fanuc, jbi, urscript, apt, gcode, csv"
        in run("new", tmp_path / "c", "--robot", sheet, "--language", "val3").err
    )
    assert "controller: language" in run("new", tmp_path / "c", "--robot", "kr270", "--language", "krl").err


def test_a_program_of_a_cell_needs_no_calibration_to_be_named(tmp_path: Path, run: Run) -> None:
    well("new", tmp_path / "cell", "--robot", "kr270")
    said = run("compensate", tmp_path / "cell" / "programs" / "square.src")
    assert "calibration/calibration.json" in said.err.replace("\\", "/") or "run 'elastocal calibrate" in said.err
