"""Calibration files: written and read again without a change, useful only with the robot they belong to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files.campaign_desk import ROBOT
from oracle.refusals import refused

from elastocal import __version__
from elastocal.errors import InputError
from elastocal.files.calibration import (
    CalibrationRecord,
    ParameterRecord,
    calibration_text,
    identified_model,
    read_calibration,
)
from elastocal.files.opened import sha256_of
from elastocal.files.robot.read import read_robot
from elastocal.files.run_record import digests, robot_mark
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.reduction.prediction import predict

NAMES = ("J1.k", "J2.k")
COVARIANCE = np.array([[1e-16, 3e-17], [3e-17, 4e-16]])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "arm.yaml").write_text(ROBOT)
    return tmp_path


def record(folder: Path, **changes: Any) -> CalibrationRecord:
    model = read_robot(folder / "arm.yaml")
    values = dict(zip(model.parameters.names, model.parameters.values, strict=True)) | {"J1.k": 1 / 3e6, "J2.k": 2.7e-6}
    parameters = tuple(
        ParameterRecord(name=p.name, unit=p.unit, value=float(values[p.name]), sd=1e-8, group="G1+")
        if p.name in NAMES
        else ParameterRecord(
            name=p.name,
            unit=p.unit,
            value=float(values[p.name]),
            status="fixed",
            reason="G2: unobservable, no reading depends on it",
        )
        for p in model.parameters
    )
    first = CalibrationRecord(
        robot="arm.yaml",
        mark=robot_mark("arm.yaml", folder),
        tool="tool",
        load_frame="tool",
        parameters=parameters,
        names=NAMES,
        covariance=COVARIANCE,
        discrepancy=12.5e-6,
        discrepancy_reason="lack of fit beyond the scatter of repeats",
        noise_stated=True,
        scatter=1.07,
        freedom=31,
        inputs={"campaign.yaml": "ab" * 32},
        seed=7,
    )
    return replace(first, **changes)


def written(folder: Path, text: str) -> Path:
    path = folder / "calibration.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_record_comes_back(folder: Path) -> None:
    one = record(folder, without=("link_mass",), form="symmetric", statics="linear", follows=True)
    one = replace(one, warnings=("LACK OF FIT: the model lacks something.", "NOISE: more than stated."))
    two = read_calibration(written(folder, calibration_text(one)))
    assert two.warnings == one.warnings
    assert two.warned[1] == "THE CALIBRATION IS IN DOUBT. NOISE: more than stated."
    np.testing.assert_array_equal(two.covariance, one.covariance)
    assert calibration_text(two) == calibration_text(one)
    plain = replace(one, covariance=np.eye(2))
    for key in CalibrationRecord.__dataclass_fields__:
        if key not in ("covariance", "folder", "parameters"):
            assert getattr(two, key) == getattr(plain, key), key
    assert two.parameters[0] == one.parameters[0]
    assert two.folder == folder
    assert two.version == __version__


def test_the_unknown_is_null_with_a_reason(folder: Path) -> None:
    one = record(folder, discrepancy=np.nan, discrepancy_reason="no repeats", scatter=np.nan, freedom=0, seed=None)
    text = calibration_text(one)
    said = json.loads(text, parse_constant=pytest.fail)
    assert said["format"] == "elastocal-calibration/1"
    assert said["created_by"] == f"elastocal {__version__}"
    assert (said["discrepancy_m"], said["discrepancy_reason"]) == (None, "no repeats")
    assert said["noise"]["scatter"] is None
    assert "no readings to spare" in said["noise"]["reason"]
    held = [p for p in said["parameters"] if p["status"] == "fixed"]
    assert all(p["sd"] is None and p["reason"] for p in held)
    assert len(held) == 4
    two = read_calibration(written(folder, text))
    assert np.isnan(two.discrepancy)
    assert np.isnan(two.scatter)
    assert np.isnan(two.parameters[-1].sd)
    assert calibration_text(two) == text


def test_knowledge_predicts_with_the_values_of_the_calibration(folder: Path) -> None:
    one = read_calibration(written(folder, calibration_text(record(folder))))
    known, notes = identified_model(one, read_robot(one.robot_word(), one.tool))
    assert notes == ()
    assert known.names == NAMES
    assert known.discrepancy == 12.5e-6
    table = known.model.parameters
    assert table.values[table.index("J1.k")] == 1 / 3e6
    found = predict(known, np.zeros((1, 2)), AppliedWrenches("tool", [0, 0, -100, 0, 0, 0]))
    np.testing.assert_allclose(found.twist[0, 2], -100 * 2.7e-6, rtol=1e-3)
    np.testing.assert_allclose(found.sd[0, 2], np.hypot(100 * 2e-8, 12.5e-6), rtol=1e-3)


def test_the_robot_is_found_from_the_calibration(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = read_calibration(written(folder, calibration_text(record(folder))))
    monkeypatch.chdir("/")
    assert Path(one.robot_word()).samefile(folder / "arm.yaml")
    assert Path(one.robot_word(folder / "calibration.json")).samefile(folder / "arm.yaml")
    assert record(folder, robot="kuka-kr270").robot_word() == "kuka-kr270"


def test_a_changed_robot_is_noted(folder: Path) -> None:
    one = read_calibration(written(folder, calibration_text(record(folder))))
    (folder / "arm.yaml").write_text(ROBOT.replace("mass_kg: 20", "mass_kg: 30"))
    known, (note,) = identified_model(one, read_robot(folder / "arm.yaml"))
    assert note.startswith("The robot arm.yaml has changed since it was calibrated (content:")
    table = known.model.parameters
    assert table.values[table.index("J2.m")] == 20
    (folder / "arm.yaml").unlink()
    (note,) = identified_model(one, known.model)[1]
    assert "is not there" in note
    shipped = record_of_shipped(one)
    (note,) = identified_model(shipped, known.model)[1]
    assert "elastocal 0.0.0 then" in note


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("name: arm\n", "# measured in May\nname:   arm   # the old one\n", True),
        ("source: ", "source: page 3 of ", True),
        ("mass_kg: 20", "mass_kg: 20.0", True),
        ("mass_kg: 20", "mass_kg: 20.001", False),
        ("name: arm\n", "name: leg\n", False),
        ("  axes: [A1, A2]\n", "  axes: [A1, A2]\n  language: rapid\n", True),
        ("  axes: [A1, A2]\n", "  axes: [E1, A2]\n  language: rapid\n", False),
    ],
)
def test_the_mark_of_a_robot_is_of_what_counts(folder: Path, old: str, new: str, same: bool) -> None:
    before, text = robot_mark("arm.yaml", folder), (folder / "arm.yaml").read_text()
    assert old in text
    (folder / "arm.yaml").write_text(text.replace(old, new, 1))
    assert (robot_mark("arm.yaml", folder) == before) == same


def test_a_controller_that_only_says_its_language_is_none_at_all(folder: Path) -> None:
    start, end = ROBOT.index("controller:"), ROBOT.index("elements:")
    marks = []
    for controller in ("", "controller: {language: krl}\n", "controller: {language: krl, sign: {J2: -1}}\n"):
        (folder / "arm.yaml").write_text(ROBOT[:start] + controller + ROBOT[end:])
        read_robot(folder / "arm.yaml")
        marks.append(robot_mark("arm.yaml", folder))
    assert marks[0] == marks[1] != marks[2]


def test_the_mark_of_a_urdf_is_of_what_counts(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text('<robot name="a"><!-- mine --><link name="base"/>\n<link  name="tip" /></robot>')
    one = robot_mark("arm.urdf", tmp_path)
    file.write_text('<robot name="a"><link name="base"/><link name="tip"/></robot>')
    assert robot_mark("arm.urdf", tmp_path) == one
    file.write_text('<robot name="a"><link name="base"/><link name="top"/></robot>')
    assert robot_mark("arm.urdf", tmp_path) != one


def record_of_shipped(one: CalibrationRecord) -> CalibrationRecord:
    assert robot_mark("kuka-kr270") == f"elastocal {__version__}"
    return replace(one, robot="kuka-kr270", mark="elastocal 0.0.0")


def test_left_out_effects_are_left_out_again(folder: Path) -> None:
    one = record(folder)
    light = replace(one, without=("link_mass",), parameters=one.parameters[:2])
    known, _ = identified_model(light, read_robot(folder / "arm.yaml"))
    assert not any(e.kind == "link_mass" for e in known.model.elements)


def test_another_robot_is_refused(folder: Path) -> None:
    one = record(folder)
    with refused("conflict", ("J1.k", None, "rad/(N m)")):
        identified_model(one, read_robot("kuka-kr5"))
    odd = replace(one, parameters=(replace(one.parameters[0], unit="m/N"), *one.parameters[1:]))
    with refused("conflict", ("J1.k", "rad/(N m)", "m/N")):
        identified_model(odd, read_robot(folder / "arm.yaml"))


@pytest.mark.parametrize(
    ("changes", "code", "value"),
    [
        ({"covariance": np.eye(3)}, "shape", (3, 3)),
        ({"covariance": np.full((2, 2), np.nan)}, "shape", (2, 2)),
        ({"covariance": [[1.0, 0.5], [0.2, 1.0]]}, "covariance", None),
        ({"covariance": [[0.0, 0.0], [0.0, 1.0]]}, "covariance", None),
        ({"names": ("J1.k", "J3.k")}, "conflict", "J2.k"),
        ({"names": ("J1.k", "J1.k")}, "conflict", "J2.k"),
        ({"parameters": (ParameterRecord(name="J1.k", unit="m", value=np.nan),)}, "number", "J1.k"),
        ({"parameters": (ParameterRecord(name="J1.k", unit="m", value=1.0),) * 2}, "duplicate", "J1.k"),
    ],
)
def test_a_record_is_consistent(folder: Path, changes: dict[str, Any], code: str, value: Any) -> None:
    with refused(code, value):
        record(folder, **changes)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"statics": "loaded"', '"statics": "bent"', "statics: 'bent' does not fit; write 'loaded' or 'linear'"),
        ('"statics"', '"static"', "static: is not a key here; did you mean 'statics'?"),
        ('"unit": "rad/(N m)", "value"', '"unit": "rad/(N m)", "val"', "parameters[1].val: is not a key here; did you"),
        ('"value": 20.0', '"value": "much"', "'much' does not fit"),
        ('"status": "fixed"', '"status": "guess"', "status: 'guess' does not fit; write 'estimated' or 'fixed'"),
        ("elastocal-calibration/1", "elastocal-calibration/9", "format: elastocal-calibration/9 is of another version"),
        ('"seed": 7', '"seed": ', "line 10: not valid JSON"),
        ("1.25e-05", "NaN", "holds NaN, which is no number; make the file again"),
        ("1.25e-05", "-", "not valid JSON"),
        ("[3e-17, 4e-16]", "[3e-17]", "covariance: its rows differ in length"),
        ("[3e-17, 4e-16]", "[9e-17, 4e-16]", "the covariance is not symmetric"),
        ('["J1.k", "J2.k"]', '["J1.k"]', "the covariance lacks or adds J2.k"),
    ],
)
def test_spoilt_files(folder: Path, old: str, new: str, said: str) -> None:
    path = written(folder, calibration_text(record(folder)).replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        read_calibration(path)
    got = str(caught.value)
    assert got.startswith(str(path))
    assert "\n" not in got
    assert said in got


def test_fingerprints(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "t.csv").write_bytes(b"abc")
    assert digests([folder / "arm.yaml", folder / "deep" / "t.csv"]) == {
        "arm.yaml": sha256_of(folder / "arm.yaml"),
        "deep/t.csv": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    }
    with refused("no-file", file="none"):
        sha256_of(folder / "none")
