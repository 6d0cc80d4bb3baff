"""A user's mistake: one sentence on stderr, exit code 2, no traceback, nothing written, nothing on stdout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
KR = "kuka-kr270"
HOME = ("--at", "0,-90,90,0,30,0")
PUSH = ("--force", "0,0,-2500")
JOINT = "kind: joint_compliance, joint: J, k_rad_per_Nm: 1.0e-6"
LINK = "kind: link_compliance, frame: tip, entries_SI: {{{0}}}"


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        (("deflect", KR, "--at", "0,-90,90", *PUSH), ["6 numbers are needed", "3 were given", "A6 [deg]"]),
        (("deflect", KR, "--at", "0,-200,90,0,30,0", *PUSH), ["A2 = -200 deg", "-140 to -5", "--ignore-limits"]),
        (("deflect", KR, "--at", "0,nan,90,0,30,0", *PUSH), ["'nan'", "not finite"]),
        (("deflect", KR, "--at", "0,x,90,0,30,0", *PUSH), ["'x' is not a number"]),
        (("deflect", KR, *PUSH), ["no configuration", "--at"]),
        (("deflect", KR, *HOME), ["nothing pushes", "--force", "--sag"]),
        (("deflect", KR, *HOME, "--force", "0,0"), ["3 numbers are needed", "2 were given"]),
        (("deflect", KR, *HOME, "--force", "0,0,inf"), ["'inf'", "not finite"]),
        (("deflect", KR, *HOME, *PUSH, "--frame", "flnge"), ["'flnge'", "did you mean 'flange'?", "marker1"]),
        (("deflect", KR, *HOME, *PUSH, "--load-frame", "tol"), ["did you mean 'tool'?"]),
        (("deflect", KR, *HOME, *PUSH, "--without", "link_complience"), ["did you mean 'link_compliance'?"]),
        (("deflect", KR, *HOME, *PUSH, "--payload", "-3"), ["-3", "not negative"]),
        (("deflect", KR, *HOME, *PUSH, "--payload-frame", "tool"), ["--payload"]),
        (("deflect", KR, *HOME, "--follow"), ["--follow needs a load"]),
        (("deflect", KR, *HOME, *PUSH, "--configurations", "x.csv"), ["keep one"]),
        (("deflect", KR, *PUSH, "--configurations", "missing.csv"), ["missing.csv", "no such file"]),
        (("deflect", "kuka-kr27", *HOME, *PUSH), ["'kuka-kr27'", "did you mean 'kuka-kr270'?"]),
        (("deflect", "no.urdf", *HOME, *PUSH), ["no.urdf"]),
        (("show", "no.yaml"), ["no.yaml", "no such file"]),
        (("show", KR, "--parameters", "A9.*"), ["'A9.*'", "did you mean", "and 100 more; see elastocal show"]),
        (("show", KR, "--parameters", "A2.kk"), ["did you mean 'A2.k'?", "and 100 more"]),
        (("deflect", KR, *HOME, "--sag", "--linear"), ["--sag", "keep one"]),
        (("deflect", KR, "--at", "0", "-90", "90", *PUSH), ['quotes: --at "0 -90 90"']),
        (("deflect", KR, *HOME, "--force", "0", "0", "-2500"), ['quotes: --force "0 0 -2500"']),
        (("deflect", KR, *HOME, *PUSH, "--foo"), ["no such option: --foo", "elastocal deflect --help"]),
        (("deflect", KR, *HOME, *PUSH, "--payload", "x"), ["'--payload'"]),
        (("deflekt", KR), ["no such command 'deflekt'"]),
        (("stiffness", "fanuc-m710ic50", "--at", "0,130,160,0,0,0"), ["joint J3, moved by J2 and J3", "290 deg"]),
        (("show", KR, "--tool", "hand"), ["'hand'", "valid"]),
        (("stiffness", KR, "--map", "A2:-130:-20:12"), ["two different axes"]),
        (("stiffness", KR, "--map", "A2:-130:-20:12,A2:-130:-20:12"), ["two different axes"]),
        (("stiffness", KR, "--map", "A2:-130:-20,A3:0:90:3"), ["form"]),
        (("stiffness", KR, "--map", "B2:-130:-20:3,A3:0:90:3"), ["'B2'", "A1, A2"]),
        (("stiffness", KR, "--map", "A2:-150:-20:3,A3:0:90:3"), ["A2 = -150 deg", "-140 to -5"]),
        (("stiffness", KR, "--map", "A2:-130:-20:1,A3:0:90:3"), ["count '1'"]),
        (("stiffness", KR, "--map", "A2:-130:-20:9999,A3:0:90:9999"), ["too many"]),
        (("stiffness", KR, "--map", "A2:-130:-20:3,A3:0:90:3", *HOME, *HOME), ["one --at"]),
        (("stiffness", KR, *HOME, "--payload", "100"), ["--loaded"]),
        (("reproduce", "kr270-elastic"), ["did you mean 'kr270-elastostatic'?"]),
    ],
)
def test_one_sentence_and_exit_code_two(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], pieces: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    extra = ("--json",) if words[0] == "show" else ("--report", "out.html", "--json")
    got = run(*words, *extra)
    assert got.code == 2
    assert got.out == ""
    assert got.err.startswith("elastocal: ")
    assert got.err.count("\n") == 1
    for piece in pieces:
        assert piece in got.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "pieces"),
    [
        (("k_rad_per_Nm: 1.0e-6", "k_rad_per_Nm: -1.0e-6"), ["line ", "-1e-06"]),
        (("k_rad_per_Nm: 1.0e-6", "k_rad_per_Nm: .nan"), ["nan"]),
        (("joint: J,", "joint: K,"), ["'K'", "J"]),
        (("joint_compliance", "joint_complaince"), ["did you mean 'joint_compliance'?"]),
        (("source: written for a test\n", ""), ["source"]),
        ((JOINT, LINK.format("k11: 1e-6, k12: 1e-7, k21: 2e-7, k22: 1e-6")), ["not symmetric", "k12"]),
        ((JOINT, LINK.format("k11: 1e-6, k12: 2e-6, k22: 1e-6")), ["indefinite"]),
    ],
)
def test_a_bad_robot_file(run: Run, arm: Path, change: tuple[str, str], pieces: list[str]) -> None:
    text = arm.read_text(encoding="utf-8")
    assert change[0] in text
    arm.write_text(text.replace(*change), encoding="utf-8")
    got = run("deflect", arm, "--at", "10", "--force", "0,0,-1", "--json")
    assert (got.code, got.out) == (2, "")
    assert str(arm) in got.err
    assert got.err.count("\n") == 1
    for piece in pieces:
        assert piece in got.err


def test_a_robot_file_in_the_wrong_encoding(run: Run, arm: Path) -> None:
    arm.write_bytes(arm.read_text(encoding="utf-8").replace("written", "geprüft").encode("latin-1"))
    got = run("show", arm)
    assert got.code == 2
    assert "UTF-8" in got.err


def test_a_urdf_with_a_loop(run: Run, tmp_path: Path) -> None:
    joint = (
        '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    joints = "".join(joint.format(*words) for words in (("j1", "a", "b"), ("j2", "b", "c"), ("j3", "c", "b")))
    path = tmp_path / "loop.urdf"
    path.write_text(f'<robot name="loop"><link name="a"/><link name="b"/><link name="c"/>{joints}</robot>')
    got = run("deflect", path, "--at", "0,0", "--force", "0,0,-1")
    assert (got.code, got.out) == (2, "")
    assert str(path) in got.err


def test_limits_in_a_file_name_the_line(run: Run, arm: Path, tmp_path: Path) -> None:
    poses = tmp_path / "poses.csv"
    poses.write_text("A_deg\n0\n110\n")
    got = run("deflect", arm, "--configurations", poses, "--force", "0,0,-1")
    assert got.code == 2
    assert f"{poses}, line 3: axis A = 110 deg is beyond its limits -80 to 100 deg" in got.err


def test_targets_that_cannot_be_written(run: Run, arm: Path, tmp_path: Path) -> None:
    words = ("deflect", arm, "--at", "10", "--force", "0,0,-1")
    for target in (tmp_path, tmp_path / "no" / "x.html"):
        got = run(*words, "--report", target)
        assert (got.code, got.out) == (2, "")
    poses = tmp_path / "poses.csv"
    poses.write_text("A_deg\n0\n")
    got = run("deflect", arm, "--configurations", poses, "--force", "0,0,-1", "--csv", poses)
    assert got.code == 2
    assert poses.read_text() == "A_deg\n0\n"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("plan", "kr5", "--poses", "ten", "--out", "x"), "'--poses': give a whole number; see"),
        (("compensate", "a.src", "--densify-um", "50um"), "'--densify-um': give a number, without a unit; see"),
    ],
)
def test_what_is_no_number_is_asked_for_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...],
    wanted: str,
) -> None:  # fmt: skip
    from elastocal.app.cli.main import run_words

    monkeypatch.chdir(tmp_path)
    assert run_words(list(words)) == 2
    assert wanted in capsys.readouterr().err
