"""The command line on consoles that know few characters, with the paths of Windows, without optional packages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest
from app.cell_desk import record, results
from app.conftest import ARM

from elastocal.app.cells.freshness import Freshness
from elastocal.app.cells.run import _word
from elastocal.files.run_record import RunRecord

OPTIONAL = (
    "coal", "dask", "distributed", "emcee", "hypothesis", "matplotlib", "pandas", "pinocchio", "playwright", "xacrodoc",
    "fcntl", "resource", "pwd", "grp", "termios",
)  # fmt: skip
HIDE = "import sys; sys.modules.update(dict.fromkeys({names!r})); from elastocal.app.cli.main import main; main()"


PARTED = b"=" * 40
THREE = f"""
import sys
from elastocal.app.cli.main import main
robot, missing = sys.argv[1:]
codes = []
for words in (["show", robot], ["show", robot, "--json"], ["show", missing]):
    sys.argv = ["elastocal", *words]
    try:
        main()
    except SystemExit as left:
        codes.append(left.code)
    if codes[-1] == 0:
        print({PARTED.decode()!r}, flush=True)
print(codes)
"""


def ran(words: list[str], at: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment}
    return subprocess.run([sys.executable, *words], cwd=at, env=env, capture_output=True, check=False)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_no_console_breaks_an_answer(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "Zelle 5 µ→Ω.yaml").write_text(ARM.replace("written for", "Größe → Ω, for"), encoding="utf-8")
    console = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    said = ran(["-c", THREE, "Zelle 5 µ→Ω.yaml", "µ→Ω.yaml"], tmp_path, **console)
    assert said.returncode == 0, said.stderr
    _, data, code = said.stdout.split(PARTED)
    assert code.strip() == b"[0, 0, 2]"
    assert said.stderr.decode(encoding).strip().endswith("no such file; check the name")
    rule = said.stdout.split(PARTED)[0].decode(encoding).splitlines()
    assert any(line.startswith("----") for line in rule)
    assert not any(line.startswith("????") for line in rule)
    assert "Größe → Ω" in json.dumps(json.loads(data.decode("ascii")), ensure_ascii=False)


def test_help_is_plain(tmp_path: Path) -> None:
    said = ran(["-m", "elastocal", "--help"], tmp_path, PYTHONIOENCODING="ascii:strict", PYTHONUTF8="0")
    assert said.returncode == 0, said.stderr
    assert b"demo" in said.stdout


def test_results_are_the_same_with_the_paths_of_windows(kr5_cell: Path, tmp_path: Path) -> None:
    cell = tmp_path / "kr5"
    shutil.copytree(kr5_cell, cell)
    script = str(Path(__file__).with_name("windows_paths.py"))
    said = ran([script, "simulate", "kr5", "--", "calibrate", "kr5", "--", "compensate", "kr5"], tmp_path)
    assert said.returncode == 0, said.stderr
    for command in (b"simulate", b"calibrate", b"compensate"):
        assert b"written: kr5\\reports\\" + command in said.stdout
    assert results(cell) == results(kr5_cell)
    for label in ("simulate", "calibrate", "compensate-square.src"):
        assert record(cell, label) | {"time": ""} == record(kr5_cell, label) | {"time": ""}


def test_words_of_a_record_have_plain_slashes() -> None:
    assert _word(PureWindowsPath("calibration", "second.json")) == "calibration/second.json"
    assert _word(2.5) == "2.5"


def test_commands_work_without_optional_packages(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text(ARM, encoding="utf-8")
    for words in (["show", "arm.yaml"], ["deflect", "arm.yaml", "--at", "0", "--force", "0,0,-100"]):
        said = ran(["-c", HIDE.format(names=OPTIONAL), *words, "--json"], tmp_path)
        assert said.returncode == 0, said.stderr
        assert json.loads(said.stdout)["title"]


def test_a_command_to_repeat_is_quoted_for_every_system() -> None:
    words = ("deflect", "arm.yaml", "--at", "0 -90", "--hold", "A*.k", "--name", 'a"b', "--force=0,0,-1")
    run = RunRecord(command=words, inputs={}, outputs={}, versions={}, time="")
    wanted = 'elastocal deflect arm.yaml --at "0 -90" --hold "A*.k" --name \'a"b\' --force=0,0,-1'
    assert Freshness("x", run).repeat == wanted
