"""Files as long as anybody may have them, written line by line: programs, tables, logs, campaigns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import cos, sin
from pathlib import Path

import numpy as np

from benchmarks.robots import configurations, robot

MARKERS = np.array([[0.02, 0.08, 0.0], [-0.04, -0.03, 0.07], [0.0, -0.05, -0.06]])
NAME = "kuka-kr270"
_EAX = "[9E9,9E9,9E9,9E9,9E9,9E9]"
_NEAR = ["--robot", NAME, "--near", "0,-90,90,0,90,0", "--force=-400,0,-150"]
_PART, _TOOL = "1750,0,800,0,0,0", "0,100,200,0,0,0"


def write_lines(file: Path, lines: Iterable[str]) -> None:
    with file.open("w") as out:
        out.writelines(lines)


def write_table(file: Path, names: Iterable[str], columns: np.ndarray) -> None:
    np.savetxt(file, columns, "%.9f", ",", header=",".join(names), comments="")


def _spiral(count: int) -> Iterable[tuple[int, float, float, float]]:
    """mm"""
    return ((i, 300 * cos(i / 500), 300 * sin(i / 500), -10 * i / count) for i in range(count))


def _krl(n: int) -> Iterable[str]:
    yield "DEF b()\n"
    for _, x, y, z in _spiral(n):
        yield f"LIN {{X {x:.3f},Y {y:.3f},Z {z:.3f},A 10.000,B 5.000,C 180.000}} C_DIS\n"
    yield "END\n"


def _rapid(n: int) -> Iterable[str]:
    yield "MODULE b\nPROC main()\n"
    for _, x, y, z in _spiral(n):
        yield f"MoveL [[{x:.3f},{y:.3f},{z:.3f}],[0.6,0,0.8,0],[0,0,0,0],{_EAX}],v50,z1,tMill\\WObj:=wPart;\n"
    yield "ENDPROC\nENDMODULE\n"


def _fanuc(n: int) -> Iterable[str]:
    yield f"/PROG B\n/ATTR\nLINE_COUNT = {n};\n/MN\n"
    for i in range(n):
        yield f"{i + 1:4d}:L P[{i + 1}] 50mm/sec CNT100 ;\n"
    yield "/POS\n"
    for i, x, y, z in _spiral(n):
        pose = f"X = {x:.3f} mm, Y = {y:.3f} mm, Z = {z:.3f} mm,\n W = 180.000 deg, P = 5.000 deg, R = 10.000 deg"
        yield f"P[{i + 1}]{{\n GP1:\n UF : 1, UT : 1, CONFIG : 'N U T, 0, 0, 0',\n {pose}\n}};\n"
    yield "/END\n"


def _urscript(n: int) -> Iterable[str]:
    yield "def b():\nset_tcp(p[0,0.1,0.2,0,0,0])\n"
    for _, x, y, z in _spiral(n):
        place = f"{1.75 + x / 1e3:.6f},{y / 1e3:.6f},{0.8 + z / 1e3:.6f}"
        yield f"movel(p[{place},3.126,0.274,0.0],a=1.2,v=0.05,r=0.001)\n"
    yield "end\n"


def _jbi(n: int) -> Iterable[str]:
    yield f"/JOB\n//NAME B\n//POS\n///NPOS {n},0,0,0,0,0\n///TOOL 1\n///POSTYPE BASE\n///RECTAN\n"
    yield "///RCONF 1,0,0,0,0\n"
    for i, x, y, z in _spiral(n):
        yield f"C{i:05d}={1750 + x:.3f},{y:.3f},{800 + z:.3f},180.0000,5.0000,10.0000\n"
    yield "//INST\n///DATE 2000/01/01 00:00\n///ATTR SC,RW\n///GROUP1 RB1\nNOP\n"
    for i in range(n):
        yield f"MOVL C{i:05d} V=50.0 PL=1\n"
    yield "END\n"


def _apt(n: int) -> Iterable[str]:
    yield "UNITS/MM\nMULTAX/ON\nFEDRAT/500,MMPM\n"
    for _, x, y, z in _spiral(n):
        yield f"GOTO/{x:.5f},{y:.5f},{z:.5f},0.087155743,0.000000000,0.996194698\n"
    yield "FINI\n"


def _gcode(n: int) -> Iterable[str]:
    yield "G21 G90 G1 F500\n"
    for i, x, y, z in _spiral(n):
        yield f"N{i} X{x:.3f} Y{y:.3f} Z{z:.3f}\n"


def _modal(n: int) -> Iterable[str]:
    """As CAM systems write it: words that stay are left out, an arc now and then, feeds, lifts and comments."""
    yield "%\nG21 G90 G17 G54 (part)\nT1 M6\nS12000 M3\nG0 X300. Y0. Z20.\nG1 Z0. F500.\n"
    for i in range(1, n):
        row, at = divmod(i, 200)
        x, y = (at if row % 2 else 200 - at) * 1.5 - 150, row % 400 - 200.0
        if at == 0:
            yield f"(row {row})\nG0 Z20.\nX{x:.3f} Y{y:.1f}\nG1 Z{-0.1:.3f} F300.\nF500.\n"
        elif at % 50 == 25:
            yield f"G{2 + row % 2} X{x:.3f} Y{y:.1f} I{(0.75 if row % 2 else -0.75):.3f} J0.\n"
        elif at % 50 == 26:
            yield f"G1 X{x:.3f} Z{-0.1 - 0.05 * sin(i / 30):.3f}\n"
        else:
            yield f"X{x:.3f} Z{-0.1 - 0.05 * sin(i / 30):.3f}\n"
    yield "G0 Z50.\nM30\n%\n"


def _csv(n: int) -> Iterable[str]:
    yield "x_mm,y_mm,z_mm,a_deg,b_deg,c_deg\n"
    for _, x, y, z in _spiral(n):
        yield f"{x:.3f},{y:.3f},{z:.3f},10.000,5.000,180.000\n"


def _with_statements(
    lines: Callable[[int], Iterable[str]], statements: tuple[str, ...]
) -> Callable[[int], Iterable[str]]:
    """The same with a statement behind every other line: so many lines in all."""

    def mixed(n: int) -> Iterable[str]:
        for i, line in enumerate(lines(2 * n // 3)):
            yield line
            if i % 2:
                yield f"  {statements[i // 2 % len(statements)]}\n"

    return mixed


_KRL_BETWEEN = ("$VEL.CP=0.02", ";FOLD row", "$OUT[3]=TRUE", "WAIT SEC 0.1", "$VEL.CP=0.05", ";ENDFOLD")
_RAPID_BETWEEN = ("SetDO do1,1;", "WaitTime 0.1;", "! row", "AccSet 50,100;")
_URSCRIPT_BETWEEN = ("set_digital_out(3, True)", "sleep(0.1)", "# row")
PROGRAMS: dict[str, tuple[str, Callable[[int], Iterable[str]], list[str]]] = {
    "krl": ("b.src", _krl, ["--base", f"at the start of b={_PART}", "--tool", f"at the start of b={_TOOL}"]),
    "rapid": ("b.mod", _rapid, ["--base", f"wPart={_PART}", "--tool", f"tMill={_TOOL}"]),
    "gcode": ("b.nc", _gcode, ["--base", f"G54={_PART}", "--tool", f"T0={_TOOL}", "--orientation", "0,0,180"]),
    "gcode-cam": ("b.nc", _modal, ["--base", f"G54={_PART}", "--tool", f"T1={_TOOL}", "--orientation", "0,0,180"]),
    "csv": ("b.csv", _csv, ["--base", f"base={_PART}", "--tool", f"tool={_TOOL}"]),
    "fanuc": ("b.ls", _fanuc, ["--base", f"1={_PART}", "--tool", f"1={_TOOL}"]),
    "jbi": ("b.jbi", _jbi, ["--base", "base=0,0,0,0,0,0", "--tool", f"1={_TOOL}"]),
    "urscript": ("b.script", _urscript, []),
    "krl-statements": (
        "b.src",
        _with_statements(_krl, _KRL_BETWEEN),
        ["--base", f"at the start of b={_PART}", "--tool", f"at the start of b={_TOOL}"],
    ),
    "rapid-statements": (
        "b.mod",
        _with_statements(_rapid, _RAPID_BETWEEN),
        ["--base", f"wPart={_PART}", "--tool", f"tMill={_TOOL}"],
    ),
    "urscript-statements": ("b.script", _with_statements(_urscript, _URSCRIPT_BETWEEN), []),
    "apt": ("b.apt", _apt, ["--base", f"base={_PART}", "--tool", f"tool={_TOOL}", "--orientation", "0,0,180"]),
}
"""File, lines and frames by language."""


def program(kind: str) -> Callable[[int, Path], list[str]]:
    """A file that a CAM system could have written; the command that corrects it."""
    name, lines, frames = PROGRAMS[kind]

    def words(count: int, folder: Path) -> list[str]:
        write_lines(folder / name, lines(count))
        return ["compensate", name, *_NEAR, *frames, "--out", f"corrected-{count}"]

    return words


def shown(q: np.ndarray) -> np.ndarray:
    return np.degrees(robot().controller.to_controller(q))


def axes() -> list[str]:
    return [f"A{i}_deg" for i in range(1, 7)]


def positions(count: int, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Joint values and three markers (N, 3, 3), read to 20 um, of an arm that bends under its own weight and is off by
    tenths of a millimetre and of a milliradian."""
    from elastocal.calibration.tool import tool_of
    from elastocal.model.chain import AXES
    from elastocal.model.compliant.frame_error import FrameError

    rng = np.random.default_rng(7)
    errors = (
        FrameError(frame=j, **{a: float(rng.normal(0.0, 5e-4 if a.startswith("r") else 3e-4)) for a in AXES})
        for j in robot().joints
    )
    true = robot().with_elements(*errors)
    q, noise = configurations(count, seed=seed), np.random.default_rng(seed)
    points = np.empty((count, 3, 3))
    for first in range(0, count, 10_000):
        at = tool_of(true, (), q[first : first + 10_000]).states(np.zeros(0))
        points[first : first + 10_000] = at.origin[:, None] + np.einsum("nij,mj->nmi", at.turn, MARKERS)
    return q, points + noise.normal(0, 2e-5, points.shape)


_CAMPAIGN = "format: elastocal-campaign/1\nname: growth\nrobot: kuka-kr270\nload: {frame: tool}\n"


def points_file(count: int, folder: Path, seed: int = 7) -> Path:
    target = folder / f"points-{seed}-{count}.csv"
    q, points = positions(count, seed)
    names = [*axes(), *(f"{m}.{a}_mm" for m in ("M1", "M2", "M3") for a in "xyz")]
    write_table(target, names, np.hstack([shown(q), 1e3 * points.reshape(count, 9)]))
    return campaign_file(target)


def campaign_file(table: Path, more: str = "") -> Path:
    target = table.with_suffix(".yaml")
    target.write_text(f"{_CAMPAIGN}table: {table.name}\n{more}")
    return target


def deflections_file(count: int, folder: Path) -> Path:
    from elastocal.model.loads.wrench import AppliedWrenches
    from elastocal.model.statics.deflection import deflection

    q, rng = configurations(count), np.random.default_rng(5)
    wrench = np.zeros((count, 6))
    wrench[:, :3] = rng.normal(0, 900.0, (count, 3))
    moved = deflection(robot(), q, [AppliedWrenches("tool", wrench)]).translation + rng.normal(0, 2e-5, (count, 3))
    names = [*axes(), "fx_N", "fy_N", "fz_N", "tool.dx_mm", "tool.dy_mm", "tool.dz_mm"]
    write_table(folder / "d.csv", names, np.hstack([shown(q), wrench[:, :3], 1e3 * moved]))
    return campaign_file(folder / "d.csv")


def plan_file(count: int, folder: Path) -> Path:
    """Configurations with a load of 500 to 2000 N, to be measured."""
    force = np.random.default_rng(5).uniform(-2000, -500, (count, 1))
    write_table(folder / "plan.csv", [*axes(), "fz_N"], np.hstack([shown(configurations(count)), force]))
    return campaign_file(
        folder / "plan.csv", "measurement: deflection\nseek: ['A?.k']\nerrors:\n  - {kind: reading, sd_um: 20}\n"
    )


def configurations_file(count: int, folder: Path) -> Path:
    write_table(folder / "q.csv", axes(), shown(configurations(count, seed=9)))
    return folder / "q.csv"


def contacts_file(count: int, folder: Path) -> Path:
    """Contacts around three discs as a plan: where, and how hard."""
    rows = (f"disc{i % 3 + 1},{360 * (i // 3) * 3 / count:.6f},{20 + 20 * (i // 3 % 2)}\n" for i in range(count))
    write_lines(folder / "contacts.csv", ["object,angle_deg,force_N\n", *rows])
    discs = zip((-250, 200, 50), (300, 400, 250), (150, 50, 80), strict=True)
    objects = "".join(
        f"  - {{kind: disc, name: disc{i}, centre_mm: [{x}, {y}], radius_mm: {r}}}\n"
        for i, (x, y, r) in enumerate(discs, 1)
    )
    target = folder / "contacts.yaml"
    target.write_text(
        f"format: elastocal-campaign/1\nname: discs\nrobot: scara-ruggeri\ntable: contacts.csv\nmeasurement: contact\n"
        f"objects:\n{objects}errors:\n  - {{kind: force_sensor, sd_N: 0.1}}\n"
        "seek: [J1.k, J2.k, J1.offset, J2.offset, gripper.p]\n"
    )
    return target


def log_file(count: int, folder: Path, seconds: float, pace: float = 1.0) -> Path:
    """Joint values and torques of a KR 5 whose joints go to and fro, ``pace`` times as fast as in half a minute."""
    from elastocal.files.robot.read import read_robot
    from elastocal.model.inverse_dynamics import INERTIAL, inertial_regressor
    from elastocal.model.loads.link_mass import LinkMass

    arm, rng = read_robot("kuka-kr5"), np.random.default_rng(3)
    masses = [e for e in arm.elements if isinstance(e, LinkMass)]
    inertial = np.concatenate([[e.mass, *e.moment, *np.zeros(len(INERTIAL) - 4)] for e in masses])
    low, high = np.array([m.limits for m in arm.motions]).T
    turn, half = 2 * np.pi * pace / np.array([19.0, 23.0, 29.0, 31.0, 37.0, 41.0]), 0.3 * (high - low)
    with (folder / "log.csv").open("w") as out:
        out.write(",".join(["time_s", *axes(), *(f"A{i}_torque_Nm" for i in range(1, 7))]) + "\n")
        for first in range(0, count, 10_000):
            t = seconds * np.arange(first, min(first + 10_000, count))[:, None] / count
            wave, slope = half * np.sin(turn * t + np.arange(6)), half * turn * np.cos(turn * t + np.arange(6))
            q = (high + low) / 2 + wave
            tau = inertial_regressor(arm, q, slope, -(turn**2) * wave, [e.frame for e in masses]) @ inertial
            tau += 8 * np.sign(slope) + 5 * slope + rng.normal(0, 0.5, q.shape)
            np.savetxt(out, np.hstack([t, np.degrees(arm.controller.to_controller(q)), tau]), "%.6f", ",")
    return folder / "log.csv"


def counts_file(count: int, folder: Path) -> Path:
    """Encoder counts of three coupled wrist joints at joint values, as controllers show them."""
    rng = np.random.default_rng(2)
    angle = rng.uniform(-150, 150, (count, 3)).round(2)
    matrix = np.array([[2541.0, 0.0, 0.0], [160.5, 1441.2, 0.0], [-290.3, -822.7, 823.1]])
    counts = np.round(angle @ matrix.T + rng.normal(0, 3, angle.shape))
    names = [*(f"A{i}_deg" for i in (4, 5, 6)), *(f"A{i}_counts" for i in (4, 5, 6))]
    np.savetxt(folder / "counts.csv", np.hstack([angle, counts]), "%.2f", ",", header=",".join(names), comments="")
    return folder / "counts.csv"


def loops_file(count: int, folder: Path) -> Path:
    """Readings of a dial gauge in loops of force, in four directions in turn."""
    rng = np.random.default_rng(4)
    force = np.resize([10.0, 25.0, 40.0, 25.0, 10.0, -10.0, -25.0, -40.0, -25.0, -10.0], count)
    turn = np.arange(count) * 4 // count * 45.0
    rows = np.column_stack([turn, force, 37 * force + 150 * np.sign(force) + rng.normal(0, 3, count)])
    names = ("direction_deg", "force_N", "displacement_um")
    np.savetxt(folder / "loops.csv", rows, "%.3f", ",", header=",".join(names), comments="")
    return folder / "loops.csv"


def visits_file(count: int, folder: Path) -> Path:
    """Commanded and measured positions: thirty visits of every pose."""
    rng = np.random.default_rng(6)
    pose = np.arange(count) * -(-count // 30) // count
    command = np.column_stack([1000 + pose % 97, 10.0 * (pose % 31), 500 + pose % 53])
    rows = zip(pose.tolist(), command.tolist(), (command + rng.normal(0, 0.05, command.shape)).tolist(), strict=True)
    write_lines(folder / "visits.csv", ["pose,command_x_mm,command_y_mm,command_z_mm,x_mm,y_mm,z_mm\n"])
    with (folder / "visits.csv").open("a") as out:
        out.writelines(f"P{p},{','.join(f'{v:.3f}' for v in (*c, *x))}\n" for p, c, x in rows)
    return folder / "visits.csv"


def targets_file(count: int, folder: Path) -> Path:
    """Places in the reach of a SCARA, and forces there."""
    rng = np.random.default_rng(8)
    angle, far = rng.uniform(0.3, 2.0, count), rng.uniform(300, 500, count)
    rows = np.column_stack(
        [far * np.cos(angle), far * np.sin(angle), np.zeros(count), rng.normal(0, 20, (count, 2)), np.zeros(count)]
    )
    names = ("x_mm", "y_mm", "z_mm", "fx_N", "fy_N", "fz_N")
    np.savetxt(folder / "targets.csv", rows, "%.4f", ",", header=",".join(names), comments="")
    return folder / "targets.csv"
