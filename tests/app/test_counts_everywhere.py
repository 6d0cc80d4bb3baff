"""Every command that takes axes takes them by counts and by motor angles, and answers the same."""

from __future__ import annotations

import re

import numpy as np
import pytest
from oracle.logs import logged, waves

from elastocal.files.plan.task import read_path
from elastocal.files.robot.read import read_robot

KR5 = read_robot("kuka-kr5")
DRIVES = KR5.controller.drives
AT = np.radians([10.0, -60, 80, 20, 40, -30])
MORE = np.radians(np.random.default_rng(1).uniform([-90, -100, 20, -90, -60, -90], [90, -20, 100, 90, 60, 90], (8, 6)))
WAYS = ("deg", "counts", "motor_deg")
PUSH = ("--force", "0,0,-500")


def given(way, values):
    """Axes (N, 6) in rad as this way gives them."""
    return {
        "deg": np.degrees(values),
        "counts": DRIVES.counts(values),
        "motor_deg": np.degrees(DRIVES.motors(values)),
    }[way]


def texts(values):
    return ",".join(repr(float(v)) for v in values)


def at(way):
    said = texts(given(way, AT[None])[0])
    return said if way == "deg" else f"{way}: {said}"


def table(folder, way, values=AT[None], more="", cells=None):
    """A CSV file of these axes, with the columns ``more`` and their cells (N, m)."""
    rows = given(way, values) if cells is None else np.column_stack([given(way, values), cells])
    head = ",".join(f"A{i}_{way}" for i in range(1, 7))
    path = folder / f"{way}.csv"
    path.write_text(f"{head}{more}\n" + "".join(texts(r) + "\n" for r in rows))
    return path


def drives_table(folder, way):
    more = "".join(f",torque_A{i}_Nm" for i in range(1, 7))
    return "kinetostatics", "kuka-kr5", "--table", table(folder, way, more=more, cells=[[10, -80, 30, 2, 5, 0.5]])


def campaign(folder, way, readings=False):
    loads = np.tile([300.0, -800.0], (8, 1))
    loads[::2, 0] = -500
    if readings:
        loads = np.column_stack([loads, np.random.default_rng(2).normal(0, 0.3, (8, 3))])
    table(folder, way, MORE, ",fy_N,fz_N" + ",dx_mm,dy_mm,dz_mm" * readings, loads)
    path = folder / f"{way}.yaml"
    path.write_text(
        f"format: elastocal-campaign/1\nname: p\nrobot: kuka-kr5\ntable: {way}.csv\nmeasurement: deflection\n"
        "seek: [A1.k, A2.k, A3.k]\nerrors: [{kind: reading, sd_um: 10}]\n"
    )
    return path


def log(folder, way):
    """Torques of the axes with degrees, else of the motors."""
    q, v = waves(6, 500, seed=4, size=0.6, rate=0.12)
    found = logged(KR5, q + np.radians([0, -80, 80, 0, 20, 0]), v, noise=0.2, coulomb=2.0, viscous=3.0)
    shown = KR5.controller.to_controller(found.q)
    axes = KR5.controller.torques_to_controller(found.torque)
    word, torque = ("torque", axes) if way == "deg" else ("motor_torque", DRIVES.torques_to_motors(axes))
    more = "".join(f",A{i}_{word}_Nm" for i in range(1, 7)) + ",time_s"
    return table(folder, way, shown, more, np.column_stack([torque, found.time]))


def program(folder, way):
    path = folder / "path.csv"
    still = "{X 0, Y 0, Z 0, A 0, B 0, C 0}"
    path.write_text(f"# base {still}\n# tool {still}\nx_mm,y_mm,z_mm,a_deg,b_deg,c_deg\n800,100,700,0,90,0\n")
    return "compensate", path, "--robot", "kuka-kr5", "--near", at(way), *PUSH, "--out", folder / f"{way}.out.csv"


POSE = ("--position", "800,100,700", "--rpy", "0,90,0")
COMMANDS = {
    "show": (lambda f, way: ("show", "kuka-kr5", "--at", at(way)), "frames"),
    "deflect --at": (lambda f, way: ("deflect", "kuka-kr5", "--at", at(way), *PUSH), "deflections"),
    "deflect --configurations": (
        lambda f, way: ("deflect", "kuka-kr5", "--configurations", table(f, way), *PUSH),
        "deflections",
    ),
    "stiffness --at": (lambda f, way: ("stiffness", "kuka-kr5", "--at", at(way)), "stiffness"),
    "stiffness --map": (
        lambda f, way: ("stiffness", "kuka-kr5", "--map", "A2:-90:-40:2,A3:40:90:2", "--at", at(way)),
        "map",
    ),
    "assess of a table": (lambda f, way: ("assess", "kuka-kr5", table(f, way, MORE), *PUSH), "parameters"),
    "assess of a campaign": (lambda f, way: ("assess", campaign(f, way)), "parameters"),
    "kinetostatics --at": (
        lambda f, way: ("kinetostatics", "kuka-kr5", "--at", at(way), "--torque", "10,-80,30,2,5,0.5"),
        "states",
    ),
    "kinetostatics --near": (
        lambda f, way: ("kinetostatics", "kuka-kr5", *POSE, *PUSH, "--near", at(way)),
        "states",
    ),
    "kinetostatics --table": (drives_table, "states"),
    "gravity LOG --at": (lambda f, way: ("gravity", log(f, way), "kuka-kr5", "--at", at(way)), "holding"),
    "compensate --near": (program, "targets"),
}


def leaves(value):
    """All numbers of an answer, in order."""
    if isinstance(value, dict):
        return [x for k, v in value.items() if k != "unknown" for x in leaves(v)]
    if isinstance(value, list):
        return [x for v in value for x in leaves(v)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_answer_from_degrees_counts_and_motor_angles(command, run, tmp_path):
    words, key = COMMANDS[command]
    answers = []
    for way in WAYS:
        done = run(*words(tmp_path, way), "--json")
        assert done.code == 0, done.err
        answers.append(leaves(done.data[key]))
    assert max(np.abs(answers[0])) > 0.01
    for other in answers[1:]:
        assert other == pytest.approx(answers[0], rel=1e-5, abs=1e-5)


def test_identified_and_predicted_from_counts_as_from_degrees(run, tmp_path):
    answers = []
    for way in WAYS:
        file = tmp_path / f"{way}.json"
        found = run("calibrate", campaign(tmp_path, way, True), "--out", file, "--json")
        assert found.code == 0, found.err
        done = run("predict", file, "--at", at(way), *PUSH, "--json")
        assert done.code == 0, done.err
        answers.append(leaves([found.data["parameters"], done.data["predictions"]]))
    assert max(np.abs(answers[0])) > 0.01
    for other in answers[1:]:
        assert other == pytest.approx(answers[0], rel=1e-5, abs=1e-9)


def test_paths_of_plans_take_counts(tmp_path):
    for way in WAYS:
        found = read_path(table(tmp_path, way, MORE), KR5).q
        np.testing.assert_allclose(found, KR5.controller.to_joints(MORE), atol=1e-12)


def test_the_option_that_was_typed_is_named(run):
    done = run("kinetostatics", "kuka-kr5", *POSE, *PUSH, "--near", "counts: 1,2")
    assert done.code == 2
    assert re.search(r"--near 'counts: 1,2': 6 numbers are needed \(counts of A1", done.err)
