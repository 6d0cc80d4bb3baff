"""Programs in four languages corrected on the command line, and judged by other parsers, another inverse, statics."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.program_desk import (
    DOWN,
    FORCE,
    HOME,
    WORDS,
    answered,
    calibration,
    error,
    lay_program,
)
from oracle.programs import EXAMPLES, csv_rows, gcode_places, krl_poses, kuka, rapid_targets

import elastocal as ec
from elastocal.app.pages.compensate_figures import workpiece_maps
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.frame_error import FrameError

KR270 = "kuka-kr270"
PUSH = ("--force", ",".join(f"{v:g}" for v in FORCE))
Pose = tuple[np.ndarray, np.ndarray]


def poses(folder: Path, ending: str) -> list[Pose]:
    def text(name: str) -> str:
        return (folder / name).read_bytes().decode("latin-1")

    if ending == "src":
        return krl_poses(text("contour.src"), text("contour.dat"))
    if ending == "mod":
        return rapid_targets(text("contour.mod"))
    if ending == "nc":
        return [(p, DOWN) for p in gcode_places(text("contour.nc"))]
    rows = csv_rows(text("contour.csv"))
    return [
        (np.array([float(r[f"{c}_mm"]) for c in "xyz"]), kuka(*(float(r[f"{c}_deg"]) for c in "abc"))) for r in rows
    ]


@pytest.mark.parametrize(("ending", "picked"), [("src", (1, 4, 9)), ("mod", (0, 3, 8)), ("csv", (0, 8, 30))])
def test_the_loaded_tool_is_where_the_program_says(run: Any, tmp_path: Path, ending: str, picked: Any) -> None:
    """The told poses, parsed by others, bend to the desired ones; the old ones are off by millimetres."""
    program = lay_program(tmp_path, ending)
    got = run("compensate", program, "--robot", KR270, *PUSH, *WORDS[ending], "--out", tmp_path / "new")
    assert got.code == 0, got.err
    old, new = poses(tmp_path, ending), poses(tmp_path / "new", ending)
    assert len(old) == len(new) > 10
    model = read_robot(KR270)
    for i in picked:
        far, turned = error(model, new[i], old[i], FORCE)
        assert far < 2e-7
        assert turned < 3e-7
        before, tilted = error(model, old[i], old[i], FORCE)
        assert before > 1.5e-3
        assert tilted > 1e-3


def test_arcs_of_g_code_become_chords_of_corrected_points(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "nc")
    words = (*WORDS["nc"], "--chord-um", "100")
    got = run("compensate", program, "--robot", KR270, *PUSH, *words, "--out", tmp_path / "new")
    assert got.code == 0, got.err
    text = (tmp_path / "new" / "contour.nc").read_text()
    assert not re.search(r"\bG[23]\b", text)
    new = poses(tmp_path / "new", "nc")
    step = 2 * np.arccos(1 - 100e-6 / 40e-3)
    assert len(new) == 13 + 4 * (int(np.ceil(np.pi / 2 / step)) - 1)
    model = read_robot(KR270)
    angle = np.pi / 2 * 3 / int(np.ceil(np.pi / 2 / step))
    third = new[4 + 2]
    on_arc = np.array([260, 40, -5]) + 40 * np.array([np.sin(angle), -np.cos(angle), 0])
    far, _ = error(model, third, (on_arc, DOWN), FORCE)
    assert far < 2e-7
    assert np.linalg.norm(third[0] - on_arc) > 1.5


@pytest.mark.parametrize("ending", sorted(WORDS))
def test_a_robot_that_does_not_bend_leaves_every_byte(run: Any, tmp_path: Path, ending: str) -> None:
    stiff = tmp_path / "stiff.yaml"
    text = run("convert", KR270, stiff)
    assert text.code == 0
    lines = re.sub(r"\nelements:.*", "\n", stiff.read_text(), flags=re.DOTALL)
    stiff.write_text(lines)
    program = lay_program(tmp_path, ending)
    got = run("compensate", program, "--robot", stiff, *PUSH, *WORDS[ending], "--out", tmp_path / "new")
    assert got.code == 0, got.err
    for file in (tmp_path / "new").iterdir():
        assert file.read_bytes() == (tmp_path / file.name).read_bytes()
    names = {f.name for f in (tmp_path / "new").iterdir()}
    assert names == ({"contour.src", "contour.dat"} if ending == "src" else {f"contour.{ending}"})


def test_position_only_keeps_every_angle(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "csv")
    got = run(
        "compensate", program, "--robot", KR270, *WORDS["csv"], "--position-only", "--out", tmp_path / "new", "--json"
    )
    told = answered(got)
    old, new = (csv_rows((f / "contour.csv").read_text()) for f in (tmp_path, tmp_path / "new"))
    assert [[r[f"{c}_deg"] for c in "abc"] for r in new] == [[r[f"{c}_deg"] for c in "abc"] for r in old]
    assert all(a["z_mm"] != b["z_mm"] for a, b in zip(old, new, strict=True))
    assert all(t["after_um"] < 0.2 for t in told["targets"])
    assert all(t["after_urad"] > 100 for t in told["targets"])


def test_axis_targets_are_corrected_in_their_axes(run: Any, tmp_path: Path) -> None:
    """XHOME of KRL: told axes bend to the pose that the old ones stand for."""
    from app.program_desk import loaded_tip, tip, without_bends

    from elastocal.model.statics.equilibrium import equilibrium

    program = lay_program(tmp_path, "src")
    got = run("compensate", program, "--robot", KR270, *PUSH, "--air-moves", "--out", tmp_path / "new")
    assert got.code == 0, got.err
    body = re.search(r"XHOME=\{(.*?),E1", (tmp_path / "new" / "contour.dat").read_bytes().decode("latin-1"))
    assert body is not None
    q = np.radians([float(v.split()[1]) for v in body[1].split(",")])
    model = read_robot(KR270)
    still = np.radians([float(v) for v in HOME.split(",")])
    stiff = without_bends(model)
    wanted = tip(stiff, still, equilibrium(stiff, still[None]))
    far = np.linalg.norm(loaded_tip(model, q, FORCE)[0] - wanted[0])
    assert far < 3e-7
    assert np.linalg.norm(loaded_tip(model, still, FORCE)[0] - wanted[0]) > 1e-3


def test_turns_of_krl_change_only_with_the_sign_of_an_axis(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "src")
    words = ("compensate", program, "--robot", KR270, "--load-lines", "40-48", *PUSH, "--out", tmp_path / "new")
    got = run(*words)
    data = (tmp_path / "new" / "contour.dat").read_bytes().decode("latin-1")
    told = " ".join(got.out.split())
    assert "S 2,T 43" in data  # A4 goes from zero to just below it: bit 3
    assert "A4 changes sign, so T 35 becomes T 43" in told
    idle = run(*words[:-1], tmp_path / "idle", "--taught")  # nothing pushes at XP1 and XP2: they are as they were
    assert idle.code == 0
    text = (tmp_path / "idle" / "contour.dat").read_bytes()
    assert text == (tmp_path / "contour.dat").read_bytes()
    assert (tmp_path / "idle" / "contour.src").read_bytes() != program.read_bytes()


def test_a_truth_that_the_model_does_not_know(run: Any, tmp_path: Path) -> None:
    """The robot has backlash, softer links and another spring than the model: most is compensated, not all."""
    true = tmp_path / "truth.yaml"
    assert run("convert", KR270, true).code == 0
    text = true.read_text()
    for pattern, new, times in (
        (r"(joint: A[23]\n    gap_deg:) 0\n", r"\1 0.0012\n", 2),
        (r"s_0_mm: 458", "s_0_mm: 430", 1),
        (r"3\.02e-07", "3.2e-07", 1),
        (r"k55: 4\.4099", "k55: 9.4099", 1),
    ):
        text, count = re.subn(pattern, new, text)
        assert count == times
    true.write_text(text)
    program = lay_program(tmp_path, "csv")
    got = run(
        "compensate", program, "--robot", KR270, *WORDS["csv"], "--truth", true, "--out", tmp_path / "new", "--json"
    )
    told = answered(got)
    model = read_robot(str(true))
    old, new = poses(tmp_path, "csv"), poses(tmp_path / "new", "csv")
    rows = csv_rows((tmp_path / "contour.csv").read_text())
    for i in (3, 20):
        force = [float(rows[i][f"f{c}_N"]) for c in "xyz"]
        far, _ = error(model, new[i], old[i], force)
        before, _ = error(model, old[i], old[i], force)
        assert told["targets"][i]["truth_after_um"] == pytest.approx(1e6 * far, rel=2e-3)
        assert told["targets"][i]["truth_before_mm"] == pytest.approx(1e3 * before, rel=1e-5)
        assert 5e-6 < far < 0.25 * before
        assert told["targets"][i]["after_um"] < 0.2


def test_first_order_leaves_more(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "csv")
    words = ("compensate", program, "--robot", KR270, *WORDS["csv"], "--force", "0,-3000,-3000", "--json")
    exact, first = (answered(run(*words, *more)) for more in ((), ("--first-order",)))
    rms = [t["summary"][1]["rms_um"] for t in (exact, first)]
    assert rms[0] < 0.2
    assert 1.0 < rms[1] < 200.0


def test_lines_that_are_left_are_named(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "mod")
    followed = answered(run("compensate", program, "--robot", KR270, *PUSH, "--json"))
    assert "left" not in followed
    program.write_bytes(program.read_bytes().replace(b"65)", b"rise)"))
    told = answered(run("compensate", program, "--robot", KR270, *PUSH, "--json"))
    assert [(r["line"], "Offs" in r["text"] or "RelTool" in r["text"]) for r in told["left"]] == [
        (17, True),
        (28, True),
    ]
    assert "MIXES CORRECTED AND UNCORRECTED MOTIONS: 2 motion lines stay as they are in all;" in " ".join(
        told["verdict"]
    )
    assert not (tmp_path / "new").exists()


def test_the_confidence_is_that_of_the_parameters(run: Any, tmp_path: Path) -> None:
    """A PRP robot in closed form: 1000 N down on the column, whose compliance is known to 3 %."""
    path = tmp_path / "path.csv"
    path.write_text(
        "# base {X 0, Y 0, Z 0, A 0, B 0, C 0}\n# tool {X 0, Y 0, Z 0, A 0, B 0, C 0}\n"
        "x_mm,y_mm,z_mm,fz_N\n600,0,500,-1000\n500,200,400,-2000\n"
    )
    file = calibration(tmp_path, "cylindrical", ("q1.k", "q2.k", "q3.k"), 0.03)
    words = ("compensate", path, "--calibration", file, "--flange", "tool", "--near", "500,0,600", "--json")
    told = answered(run(*words, "--out", tmp_path / "new.csv"))
    assert [t["sd_1_um"] for t in told["targets"]] == pytest.approx([30.0, 60.0], rel=1e-6)
    assert [t["sd_2_um"] for t in told["targets"]] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert [t["interval_95_um"] for t in told["targets"]] == pytest.approx([58.799, 117.598], rel=1e-4)
    assert [t["shift_z_mm"] for t in told["targets"]] == pytest.approx([1.0, 2.0], rel=1e-9)
    rows = csv_rows((tmp_path / "new.csv").read_text())
    assert [float(r["z_mm"]) for r in rows] == [501.0, 402.0]
    assert [float(r["x_mm"]) for r in rows] == [600.0, 500.0]
    calibration(tmp_path, "cylindrical", ("q1.k", "q2.k", "q3.k"), 0.03, warnings=("LACK OF FIT: made up.",))
    assert answered(run(*words))["verdict"][0] == "THE CALIBRATION IS IN DOUBT. LACK OF FIT: made up."
    assert len(told["verdict"]) == len(answered(run(*words))["verdict"]) - 1


def test_points_are_put_into_lines_until_they_hold(run: Any, tmp_path: Path) -> None:
    """Half way between two told neighbours the loaded tool is off by less than the tolerance, not so without points."""
    path = tmp_path / "line.csv"
    head = "# base {X 1750, Y -80, Z 800, A 0, B 0, C 0}\n# tool {X 0, Y 100, Z 200, A 0, B 0, C 0}\n"
    path.write_text(f"{head}x_mm,y_mm,z_mm,a_deg,b_deg,c_deg\n-700,-500,0,0,0,180\n300,500,0,0,0,180\n")
    words = ("compensate", path, "--robot", KR270, "--near", HOME, *PUSH, "--json")
    assert "Have points put into lines and arcs (--densify-um)." in " ".join(answered(run(*words))["verdict"])
    told = answered(run(*words, "--densify-um", "5", "--out", tmp_path / "new.csv"))
    assert told["inputs"]["inserted"] > 0
    new = [np.array([float(r[f"{c}_mm"]) for c in "xyz"]) for r in csv_rows((tmp_path / "new.csv").read_text())]
    turned = [kuka(*(float(r[f"{c}_deg"]) for c in "abc")) for r in csv_rows((tmp_path / "new.csv").read_text())]
    assert 3 <= len(new) <= 40
    model = read_robot(KR270)
    start, end = np.array([-700, -500, 0]), np.array([300, 500, 0])

    def off(a: int, b: int, at: float) -> float:
        from scipy.spatial.transform import Rotation, Slerp

        place = 0.5 * (new[a] + new[b])
        mid = Slerp([0, 1], Rotation.from_matrix([turned[a], turned[b]]))(0.5).as_matrix()
        wanted = start + at * (end - start)
        return error(model, (place, mid), (wanted, DOWN), FORCE)[0]

    share = [0.0, *(float(r) for r in _shares(new)), 1.0][1:-1]
    assert off(0, len(new) - 1, 0.5) > 20e-6
    assert off(0, 1, 0.5 * share[1]) < 6e-6


def _shares(places: list[np.ndarray]) -> list[float]:
    whole = np.linalg.norm(places[-1] - places[0])
    return [float(round(np.linalg.norm(p - places[0]) / whole * 1024) / 1024) for p in places]


def test_loads_by_line_and_payloads(run: Any, tmp_path: Path) -> None:
    """From line 41 on a payload of 100 kg hangs on the flange: as if the robot file said so, there only."""
    program = lay_program(tmp_path, "csv")
    table = tmp_path / "loads.csv"
    table.write_text("line,fz_N,payload_kg\n1,0,0\n41,-100,100\n")
    words = ("compensate", program, "--robot", KR270, *WORDS["csv"], "--json")
    by_line = answered(run(*words, "--loads", table))["targets"]
    light = answered(run(*words, "--force", "0,0,0"))["targets"]
    heavy = answered(run(*words, "--force", "0,0,-100", "--payload", "100"))["targets"]
    before = [t["before_mm"] for t in by_line]
    assert before[:36] == pytest.approx([t["before_mm"] for t in light[:36]], rel=1e-12)
    assert before[36:] == pytest.approx([t["before_mm"] for t in heavy[36:]], rel=1e-12)
    assert before[36] > 1.2 * light[36]["before_mm"]


def test_milling_pushes_against_the_motion(run: Any, tmp_path: Path) -> None:
    """Along +x: 900 MPa, 4 mm deep, 8 mm wide at 20 mm/s with 20 mm at 100 1/s give F = k a_p a_e v / (pi D n)."""
    path = tmp_path / "line.csv"
    head = "# base {X 1750, Y -80, Z 800, A 0, B 0, C 0}\n# tool {X 0, Y 100, Z 200, A 0, B 0, C 0}\n"
    path.write_text(f"{head}x_mm,y_mm,z_mm,a_deg,b_deg,c_deg,feed_mm_min\n0,0,0,0,0,180,1200\n100,0,0,0,0,180,1200\n")
    size = 900e6 * 4e-3 * 8e-3 * 0.02 / (np.pi * 20e-3 * 100)
    words = ("compensate", path, "--robot", KR270, "--near", HOME, "--json")
    process = "kc_MPa=900,ap_mm=4,ae_mm=8,D_mm=20,teeth=2,spindle_rpm=6000,radial=0.5,axial=0.25"
    cut = answered(run(*words, "--milling", process))["targets"]
    # left of +x seen with the spindle up is +y; the spindle is up, as the tool's third axis points down
    pushed = answered(run(*words, "--force", f"{-size:.9f},{0.5 * size:.9f},{0.25 * size:.9f}"))["targets"]
    idle = answered(run(*words))["targets"]
    for a, b, c in zip(cut, pushed, idle, strict=True):
        assert [a[f"shift_{k}_mm"] for k in "xyz"] == pytest.approx([b[f"shift_{k}_mm"] for k in "xyz"], abs=1e-9)
        assert abs(a["shift_x_mm"] - c["shift_x_mm"]) > 1e-2


def test_csv_json_and_page_hold_the_same(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "csv")
    table, page = tmp_path / "t.csv", tmp_path / "r.html"
    words = ("compensate", program, "--robot", KR270, *WORDS["csv"])
    told = answered(run(*words, "--json"))
    got = run(*words, "--csv", table, "--report", page)
    rows = csv_rows(table.read_text())
    assert len(rows) == len(told["targets"]) == 38
    assert float(rows[7]["before_mm"]) == told["targets"][7]["before_mm"]
    shown = f"{told['targets'][7]['before_mm']:.4f}"
    assert shown in got.out
    assert shown in page.read_text()
    assert told["verdict"][0][:60] in page.read_text()


def test_the_same_path_in_a_turned_base(run: Any, tmp_path: Path) -> None:
    """Points and forces written in a base that is turned by A 30, B -10, C 50: the same places are told."""
    turn, origin = kuka(30, -10, 50), np.array([1500.0, 200, 700])
    places = np.array([[1750.0, -80, 800], [2000, 100, 780], [1900, 300, 820]])
    force, tilt = np.array([-400.0, 100, -150]), kuka(0, 0, 180)
    told = []
    for name, base, shift in (("plain", np.eye(3), np.zeros(3)), ("turned", turn, origin)):
        xyz, push = (places - shift) @ base, force @ base
        a, b, c = _angles(base.T @ tilt)
        frame = "A 30, B -10, C 50" if name == "turned" else "A 0, B 0, C 0"
        rows = "".join(
            f"{x:.9f},{y:.9f},{z:.9f},{a:.10f},{b:.10f},{c:.10f},{push[0]:.9f},{push[1]:.9f},{push[2]:.9f}\n"
            for x, y, z in xyz
        )
        path = tmp_path / f"{name}.csv"
        path.write_text(
            f"# base {{X {shift[0]}, Y {shift[1]}, Z {shift[2]}, {frame}}}\n"
            "# tool {X 0, Y 100, Z 200, A 0, B 0, C 0}\n"
            f"x_mm,y_mm,z_mm,a_deg,b_deg,c_deg,fx_N,fy_N,fz_N\n{rows}"
        )
        words = ("compensate", path, "--robot", KR270, "--near", HOME, "--densify-um", "3", "--json")
        answer = answered(run(*words, "--out", tmp_path / f"{name}_new.csv"))
        new = csv_rows((tmp_path / f"{name}_new.csv").read_text())
        told.append(np.array([[float(r[f"{k}_mm"]) for k in "xyz"] for r in new]) @ base.T + shift)
        assert all(t["after_um"] < 0.2 for t in answer["targets"])
    assert len(told[0]) == len(told[1]) > 4  # points were put in
    np.testing.assert_allclose(told[0], told[1], atol=2e-5)
    assert np.abs(told[0][0] - places[0]).max() > 1.0


def _angles(rotation: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(rotation).as_euler("ZYX", degrees=True))


def test_a_direction_of_the_tool_is_corrected_too(run: Any, tmp_path: Path) -> None:
    """i j k towards the spindle: the told direction is tilted, the loaded tool stands as it should."""
    path = tmp_path / "ijk.csv"
    head = "# base {X 1750, Y -80, Z 800, A 0, B 0, C 0}\n# tool {X 0, Y 100, Z 200, A 180, B 0, C 180}\n"
    path.write_text(f"{head}x_mm,y_mm,z_mm,i,j,k\n0,0,0,0,0,1\n100,50,0,0.1,0,0.99498743710662\n")
    words = ("compensate", path, "--robot", KR270, "--near", HOME, *PUSH, "--json", "--out", tmp_path / "new.csv")
    told = answered(run(*words))
    assert all(t["after_um"] < 0.5 for t in told["targets"])
    new = [[float(r[c]) for c in "ijk"] for r in csv_rows((tmp_path / "new.csv").read_text())]
    np.testing.assert_allclose(np.linalg.norm(new, axis=1), 1.0, atol=1e-6)
    assert abs(new[0][0]) > 1e-3
    assert "turn about the tool axis open" in json.dumps(told)


def test_a_robot_that_does_not_bend_has_no_map_of_stiffness() -> None:
    robot, program = ec.read_robot("kuka-kr270"), ec.read_program(EXAMPLES / "contour.src")
    longer = robot.nominal.with_elements(FrameError(frame="A2", x=6e-4))
    assert workpiece_maps(ec.compensate(longer, program)) == ()
    assert [m.title for m in workpiece_maps(ec.compensate(robot, program))] == ["Stiffness over the workpiece"]


def test_who_keeps_nothing_is_told_how(run: Any, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "src")
    words = ("compensate", program, "--robot", KR270, *PUSH)
    told = "No file is written; --out DIR|FILE: write the corrected program; never over the old one."
    assert run(*words).out.splitlines()[-1] == told
    assert told not in run(*words, "--out", tmp_path / "new").out
    assert told not in run(*words, "--report", tmp_path / "page.html").out
    assert "No file" not in run("deflect", KR270, "--at", "0,-90,90,0,0,0", *PUSH).out


def test_a_picture_speaks_of_the_errors_that_it_draws(run: Any, tmp_path: Path) -> None:
    words = ("compensate", lay_program(tmp_path, "csv"), "--robot", KR270, *PUSH, *WORDS["csv"], "--report")
    for name, truth, drawn in (("model", (), False), ("truth", ("--truth", KR270), True)):
        page = tmp_path / f"{name}.html"
        assert run(*words, page, *truth).code == 0
        assert ("are drawn there" in page.read_text(encoding="utf-8")) is drawn
