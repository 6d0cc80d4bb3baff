"""The command line itself: help, version, exit codes, listings."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import typer
from typer.testing import CliRunner

from elastocal import __version__
from elastocal.app.cli import main as cli

Run = Callable[..., Any]
GROUP = cast(Any, typer.main.get_command(cli.app))
COMMANDS = tuple(GROUP.commands)
ENTRY = (sys.executable, "-c", "from elastocal.app.cli.main import main; main()")


def real(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ENTRY, *words], capture_output=True, text=True, encoding="utf-8", cwd=cwd, timeout=60, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = CliRunner().invoke(cli.app, [command, "--help"], terminal_width=80)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    written = GROUP.commands[command].help.partition("Example:\n")[2].split("\n")
    examples = [line.strip() for line in written if line.strip()]
    assert examples
    at = lines.index("  Example:") + 1
    assert [line.strip() for line in lines[at : at + len(examples)]] == examples
    assert max(len(line) for line in lines if line.strip() not in examples) <= 80
    assert "--json" in result.output


@pytest.mark.parametrize("command", COMMANDS)
def test_the_words_of_an_example_are_words_of_its_command(command: str) -> None:
    """What it names are files of the reader; its options and the number of its arguments can be checked."""
    for line in GROUP.commands[command].help.partition("Example:\n")[2].strip().split("\n"):
        program, name, *words = shlex.split(line)
        assert (program, name) == ("elastocal", command)
        GROUP.commands[command].make_context(command, words)
    with pytest.raises(Exception, match="No such option: --jason"):
        GROUP.commands[command].make_context(command, ["--jason"])


def test_short_descriptions_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = real("--help").stdout
    assert "..." not in out.partition("Daily commands:")[2]
    assert all(f"\n  {command} " in out for command in COMMANDS)


def test_python_m_and_no_command_at_all() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "elastocal", "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, f"elastocal {__version__}")
    assert "Daily commands:" in real().stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes there")
@pytest.mark.parametrize("words", [("show", "kuka-kr270"), ("robots", "--json"), ("--help",)])
def test_a_reader_that_has_gone_ends_the_program_quietly(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([*ENTRY, *words], stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['elastocal', '--help']\n"
        "from elastocal.app.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "names = {'numpy', 'scipy', 'pydantic', 'plotly', 'jinja2', 'yaml', 'lxml', 'elastocal.model'}\n"
        "heavy = names & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_exit_codes_of_the_real_program(tmp_path: Path) -> None:
    version = real("--version")
    assert (version.returncode, version.stdout.strip()) == (0, f"elastocal {__version__}")
    mistake = real("deflect", "kuka-kr270", "--at", "1,2", "--force", "0,0,-1", "--csv", "x.csv", cwd=tmp_path)
    assert mistake.returncode == 2
    assert mistake.stdout == ""
    assert mistake.stderr.startswith("elastocal: ")
    assert "Traceback" not in mistake.stderr
    assert list(tmp_path.iterdir()) == []
    assert real("no-such-command").returncode == 2


def test_json_of_the_real_program_is_all_of_stdout() -> None:
    done = real("deflect", "scara-ruggeri", "--at", "10,20", "--force", "0,5,0", "--without", "joint_backlash",
                "--without", "gripper_backlash", "--json")  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["deflections"][0]["dy_mm"] > 0


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (PermissionError(13, "Permission denied", "x"), 2)]
)
def test_interrupts_and_file_errors_leave_quietly(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("elastocal.files.robot.read.shipped_robots", fail)
    got = run("robots")
    assert got.code == code
    assert "Traceback" not in got.err


def test_robots(run: Run) -> None:
    rows = {r["name"]: r for r in run("robots", "--json").data["robots"]}
    assert rows["kuka-kr270"]["joints"] == "RRRRRR"
    assert rows["cylindrical"]["joints"] == "PRP"
    assert rows["iiwa14-on-track"]["joints"] == "PRRRRRRR"
    assert rows["orthoglide-link"]["joints"] == "none"
    text = run("robots").out
    assert ".urdf" in text
    assert all(name in text for name in rows)
    assert "SHA-256" not in text


def test_show_in_the_users_units(run: Run) -> None:
    data = run("show", "kuka-kr270", "--json").data
    joints = {j["name"]: j for j in data["joints"]}
    assert (joints["A2"]["lower"], joints["A2"]["upper"], joints["A2"]["unit"]) == (-140, -5, "deg")
    frames = {f["name"]: f for f in data["frames"]}
    assert frames["link2_end"]["x_mm"] == 1150
    assert len(data["parameters"]) == 112
    assert all(p["source"] for p in data["parameters"])
    rails = {j["name"]: j for j in run("show", "iiwa14-on-track", "--json").data["joints"]}
    assert (rails["T"]["upper"], rails["T"]["unit"]) == (4000, "mm")
    coupling = {r["joint"]: r for r in run("show", "fanuc-m710ic50", "--json").data["controller"]}
    assert coupling["J3"]["by_J2"] == 1


def test_show_filters_parameters(run: Run) -> None:
    data = run("show", "kuka-kr270", "--parameters", "A*.k", "--json").data
    values = {p["name"]: p["value"] for p in data["parameters"]}
    assert list(values) == [f"A{i}.k" for i in range(1, 7)]
    assert values["A3.k"] == 0.406e-6
    assert "frames" not in data


@pytest.mark.parametrize("robot", ["cylindrical", "kuka-kr5", "scara-ruggeri", "orthoglide-link", "fanuc-m710ic50"])
def test_show_prints_every_shipped_robot(run: Run, robot: str) -> None:
    got = run("show", robot)
    assert got.code == 0
    assert "Parameters" in got.out


def test_a_urdf_robot_with_its_notes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lever.urdf"
    path.write_text(
        '<robot name="lever"><link name="foot"/><link name="bar"/><joint name="hinge" type="revolute">'
        '<parent link="foot"/><child link="bar"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    got = run("show", path, "--json")
    assert got.code == 0
    assert [j["name"] for j in got.data["joints"]] == ["hinge"]
    assert got.data["notes"]
    assert "note" in got.err
    stiff = run("deflect", path, "--at", "0", "--force", "0,0,-1", "--json")
    assert stiff.data["verdict"][0].startswith("Nothing in this robot is compliant")
    assert stiff.data["deflections"][0]["size_mm"] == 0
    assert "0.0000 mm and" not in run("deflect", path, "--at", "0", "--force", "0,0,-1").out
    assert "Nothing in this robot is compliant" in run("stiffness", path, "--at", "0").out


@pytest.mark.usefixtures("cases_at_hand")
@pytest.mark.usefixtures("cases_at_hand")
def test_reproduce_prints_the_agreed_object(run: Run, tmp_path: Path) -> None:
    names = [c["case"] for c in run("reproduce", "--json").data["cases"]]
    assert {"kr270-compensator", "kr270-elastostatic"} <= set(names)
    data = run("reproduce", "kr5-transmission", "--json").data
    assert [k for k in data if k in ("case", "verdict", "figures")] == ["case", "verdict", "figures"]
    assert data["case"] == "kr5-transmission"
    for figure in data["figures"]:
        assert list(figure)[:5] == ["name", "published", "recomputed", "unit", "note"]
        more = ["place", "kind", "agrees", "why"] if figure["published"] is not None else []
        assert list(figure)[5:] == more
    listing = run("reproduce").out
    assert all(name in listing for name in names)
    got = run("reproduce", "kr270-compensator", "--full", "--report", tmp_path / "c.html")
    assert "0.317" in got.out
    assert (tmp_path / "c.html").read_text(encoding="utf-8").count("<figure>") > 1
