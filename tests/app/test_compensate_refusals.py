"""What compensate refuses or lists: nothing is written by halves, and never over the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from app.program_desk import HOME, WORDS, answered, calibration, lay_program

KR270 = "kuka-kr270"
FRAMES = "# base {X 1750, Y -80, Z 800, A 0, B 0, C 0}\n# tool {X 0, Y 100, Z 200, A 0, B 0, C 0}\n"
HEAD = f"{FRAMES}name,x_mm,y_mm,z_mm,a_deg,b_deg,c_deg\n"


def refused(run: Any, folder: Path, *words: object) -> str:
    """The one sentence of a refusal, after which the folder is as it was."""
    before = {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    got = run("compensate", *words)
    assert got.code == 2, got.out
    assert {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()} == before
    assert got.out == ""
    (said,) = [line for line in got.err.splitlines() if line.startswith("elastocal: ")]
    return str(said)


def test_a_target_out_of_reach_stays_and_is_named(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "path.csv"
    path.write_text(f"{HEAD}near,0,0,0,0,0,180\nfar,4000,0,0,0,0,180\nagain,100,0,0,0,0,180\n")
    words = ("compensate", path, "--robot", KR270, "--near", HOME, "--force", "0,0,-1000", "--json")
    told = answered(run(*words, "--out", tmp_path / "new"))
    assert [t["status"] for t in told["targets"]] == ["corrected", "out_of_reach", "corrected"]
    assert told["problems"][0]["target"].startswith("far (path.csv, line 5")
    assert told["left"][0]["line"] == 5
    lines = (tmp_path / "new" / "path.csv").read_text().splitlines()
    assert lines[4] == "far,4000,0,0,0,0,180"
    assert lines[3] != "near,0,0,0,0,0,180"
    assert "MIXES" in " ".join(told["verdict"])
    assert told["targets"][1]["before_mm"] is None


def test_a_program_of_which_nothing_is_corrected_is_said_to_stay(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "path.csv"
    path.write_text(f"{HEAD}far,4000,0,0,0,0,180\nfarther,5000,0,0,0,0,180\n")
    words = ("compensate", path, "--robot", KR270, "--near", HOME, "--force", "0,0,-1000", "--json")
    got = run(*words, "--out", tmp_path / "new", "--robodk", tmp_path / "robodk.csv")
    assert got.code == 1
    assert [p.name for p in tmp_path.iterdir()] == ["path.csv"]
    told = json.loads(got.out)
    said = " ".join(told["verdict"])
    assert "THE PROGRAM STAYS AS IT WAS: 2 targets cannot be corrected" in said
    assert "(out of reach 2)" in said
    assert "Contributions to the correction" not in said
    assert "MIXES" not in said


def test_a_joint_limit_is_a_problem(run: Any, tmp_path: Path) -> None:
    """A5 is at -122.49 deg of -122.5: the correction would push it beyond."""
    path = tmp_path / "axes.csv"
    path.write_text(f"{FRAMES}a1_deg,a2_deg,a3_deg,a4_deg,a5_deg,a6_deg\n0,-90,90,0,-122.49,0\n0,-90,90,0,-60,0\n")
    told = answered(run("compensate", path, "--robot", KR270, "--force", "3000,0,-1000", "--air-moves", "--json"))
    assert [t["status"] for t in told["targets"]] == ["joint_limit", "corrected"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--robot", KR270), "--near"),
        (("--robot", "kuka-kr5", "--near", "0,-90,90,0,30,0", "--rated-kg", "5"), "rated for 5 kg"),
        (("--near", HOME), "--calibration FILE or --robot ROBOT"),
        (("--robot", KR270, "--near", HOME, "--chord-um", "0"), "--chord-um"),
        (("--robot", KR270, "--near", HOME, "--densify-um", "-1"), "--densify-um"),
        (("--robot", KR270, "--near", HOME, "--payload", "-3"), "--payload -3: give a finite mass"),
        (("--robot", KR270, "--near", HOME, "--force", "0,0,-4e6"), "check the unit of the load"),
        (("--robot", KR270, "--near", HOME, "--force", "0,0,1", "--milling", "teeth=2"), "give the load once"),
        (("--robot", KR270, "--near", HOME, "--milling", "teeth=2"), "kc_MPa is missing"),
        (("--robot", KR270, "--near", HOME, "--milling", "tooth=2"), "--milling 'tooth=2': is not understood"),
        (("--robot", KR270, "--near", HOME, "--load-lines", "3"), "no load is given"),
        (("--robot", KR270, "--near", HOME, "--load-lines", "a", "--force", "0,0,1"), "--load-lines 'a'"),
        (("--robot", KR270, "--near", HOME, "--load-lines", "900", "--force", "0,0,1"), "no target"),
        (("--robot", KR270, "--near", "0,-90,90,0,900,0"), "axis A5"),
        (("--robot", KR270, "--near", HOME, "--flange", "wrist"), "wrist"),
        (("--robot", KR270, "--near", HOME, "--base", "base=1,2,3"), "6 numbers"),
        (("--robot", KR270, "--near", HOME, "--base", "base=1700,-80,800,0,0,0"), "given is x 1700"),
        (("--robot", KR270, "--near", HOME, "--tool", "tool=marker9"), "6 numbers"),
        (("--robot", KR270, "--near", HOME, "--truth", "fanuc-m710ic50"), "--truth"),
        (("--robot", "cylindrical", "--near", HOME), "3 numbers are needed"),
    ],
)
def test_refusals_in_one_sentence(run: Any, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    program = lay_program(tmp_path, "csv")
    assert said in refused(run, tmp_path, program, *words, "--out", tmp_path / "new", "--csv", tmp_path / "t.csv")


def test_loads_beyond_the_rating_of_the_robot_file_are_warned_of(run: Any, tmp_path: Path) -> None:
    """1000 N are 102 kg: within the 270 kg that the maker states of this robot, and 3000 N are not."""
    words = ("compensate", lay_program(tmp_path, "csv"), "--robot", KR270, "--near", HOME, "--json")
    light, heavy = (answered(run(*words, "--force", force)) for force in ("0,0,-1000", "0,0,-3000"))
    assert not any("rated" in note for note in light["notes"])
    assert any("weigh 305.8 kg, the robot is rated for 270 kg" in note for note in heavy["notes"])


def test_frames_that_nobody_states(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "nc")
    said = refused(run, tmp_path, program, "--robot", KR270, "--near", HOME, "--out", tmp_path / "new")
    assert "the pose of tool T1 (contour.nc, line 7) is stated nowhere" in said
    words = ("--robot", KR270, "--near", HOME, "--tool", "T1=tool")
    assert "--orientation" in refused(run, tmp_path, program, *words, "--out", tmp_path / "new")
    (tmp_path / "contour.src").write_bytes((lay_program(tmp_path, "src")).read_bytes())
    (tmp_path / "contour.dat").unlink()
    said = refused(run, tmp_path, tmp_path / "contour.src", "--robot", KR270, "--out", tmp_path / "new")
    assert "contour.src" in said


def test_the_program_itself_is_never_written_over(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "src")
    assert "would write over" in refused(run, tmp_path, program, "--robot", KR270, "--out", tmp_path)
    single = lay_program(tmp_path, "csv")
    words = (single, "--robot", KR270, *WORDS["csv"])
    assert "would write over" in refused(run, tmp_path, *words, "--out", single)
    assert "name a folder" in refused(run, tmp_path, program, "--robot", KR270, "--out", tmp_path / "new.src")
    assert "PROGRAM" in refused(run, tmp_path, *words, "--csv", single)


def test_a_calibration_of_another_robot_is_refused(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "csv")
    file = calibration(tmp_path, KR270, ("A2.k", "A3.k"), 0.02)
    words = (program, "--calibration", file, *WORDS["csv"])
    said = refused(run, tmp_path, *words, "--robot", "kuka-kr5", "--out", tmp_path / "new")
    assert f"is a calibration of robot {KR270}, not of kuka-kr5" in said
    assert run("compensate", *words, "--robot", KR270).code == 0


def test_a_robot_file_that_has_changed_is_another_robot(run: Any, tmp_path: Path) -> None:
    program, arm = lay_program(tmp_path, "csv"), tmp_path / "arm.yaml"
    assert run("convert", KR270, arm).code == 0
    from elastocal.files.run_record import robot_mark

    file = calibration(tmp_path, KR270, ("A2.k", "A3.k"), 0.02)
    text = file.read_text().replace(f'"word": "{KR270}"', '"word": "arm.yaml"')
    text = text.replace(f'"mark": "{robot_mark(KR270)}"', f'"mark": "{robot_mark(str(arm))}"')
    file.write_text(text)
    words = (program, "--calibration", file, *WORDS["csv"])
    assert run("compensate", *words).code == 0
    other = tmp_path / "other.yaml"
    other.write_text(arm.read_text())
    assert run("compensate", *words, "--robot", other).code == 0  # the same bytes under another name
    arm.write_text(arm.read_text().replace("xyz_mm: [1150, 0, 0]", "xyz_mm: [1151, 0, 0]"))
    said = refused(run, tmp_path, *words, "--out", tmp_path / "new")
    assert "is a calibration of another robot" in said
    assert "calibrate again" in said


def test_the_serial_number_must_be_that_of_the_calibrated_robot(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "csv")
    file = calibration(tmp_path, KR270, ("A2.k", "A3.k"), 0.02)
    words = (program, "--calibration", file, *WORDS["csv"])
    said = refused(run, tmp_path, *words, "--serial", "864512", "--out", tmp_path / "new")
    assert "has no serial number to compare with 864512" in said
    file.write_text(file.read_text().replace('"serial": ""', '"serial": "864512"'))
    got = run("compensate", *words, "--serial", "864512", "--json")
    assert (got.code, got.data["inputs"]["serial"]) == (0, "864512")
    said = refused(run, tmp_path, *words, "--serial", "864513", "--out", tmp_path / "new")
    assert "is of the robot with serial number 864512, not 864513" in said


def test_a_serial_number_goes_from_the_robot_file_to_the_calibration(run: Any, tmp_path: Path) -> None:
    arm = tmp_path / "arm.yaml"
    assert run("convert", "cylindrical", arm).code == 0
    arm.write_text(arm.read_text().replace("name: cylindrical\n", "name: cylindrical\nserial: 4711\n", 1))
    (tmp_path / "plan.csv").write_text(
        "q1_mm,q2_deg,q3_mm,fx_N,fy_N,fz_N\n200,0,400,0,500,-1000\n500,60,700,800,0,-1000\n800,-45,1000,-500,500,0\n"
    )
    (tmp_path / "plan.yaml").write_text(
        "format: elastocal-campaign/1\nname: s\nrobot: arm.yaml\ntable: plan.csv\nmeasurement: deflection\n"
        "errors: [{kind: reading, sd_um: 1}]\nrepeats: 2\nseek: ['*.k']\n"
    )
    assert run("simulate", tmp_path / "plan.yaml", "--out", tmp_path / "v").code == 0
    assert run("calibrate", tmp_path / "v/campaign.yaml", "--out", tmp_path / "c.json").code == 0
    assert '"serial": "4711"' in (tmp_path / "c.json").read_text()
    assert run("convert", arm, tmp_path / "again.yaml").code == 0
    assert "4711" in (tmp_path / "again.yaml").read_text()
    assert "Serial number: 4711" in run("show", tmp_path / "again.yaml").out


def test_a_target_gone_to_under_two_loads_is_named(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "src")
    got = run("compensate", program, "--robot", KR270, "--force", "0,0,-500", "--load-lines", "26-40")
    assert got.code == 0
    assert "XP1 is corrected for the load of line 26; line 52 goes there under another." in " ".join(got.out.split())


def test_loads_by_line_are_checked(run: Any, tmp_path: Path) -> None:
    program, table = lay_program(tmp_path, "csv"), tmp_path / "loads.csv"
    words = (program, "--robot", KR270, *WORDS["csv"], "--loads", table)
    for text, said in (
        ("line,fz_N\n9,1\n5,2\n", "line 5 does not follow 9"),
        ("line,fz_N,payload_kg\n1,0,-3\n", "-3 kg"),
        ("fz_N\n1\n", "needs a column line"),
        ("line,fq_N\n1,2\n", "fq_N"),
    ):
        table.write_text(text)
        assert said in refused(run, tmp_path, *words)


RAPID = "MODULE M\nPROC main()\nMoveL p10,v100,fine,tool0;\nENDPROC\nENDMODULE\n"


@pytest.mark.parametrize("text", ["", RAPID, "def f():\n  movel(p[0.1,0.2,0.3,0,0,0],a=1)\nend\n"])
def test_a_program_without_motions_is_refused(run: Any, tmp_path: Path, text: str) -> None:
    path = tmp_path / "part.src"
    path.write_text(text)
    said = refused(run, tmp_path, path, "--robot", KR270, "--out", tmp_path / "new")
    assert said.endswith(
        "part.src: has no target that can be corrected; no motion was found in it; check file and language"
    )
