"""What the front door returns shows itself shortly, and as a table; the page of names is complete."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused

import elastocal as ec

LISTED = re.compile(r"^\| `(\w+)(?:\(.*\))?` \| \S", re.MULTILINE)
PAGE = Path(__file__).parents[2] / "docs" / "front-door.md"


def test_the_page_lists_every_name_and_no_other() -> None:
    names, cells = PAGE.read_text(encoding="utf-8").split("## Cells")
    assert sorted(LISTED.findall(names)) == sorted(set(ec.__all__) - {"__version__"})
    assert sorted(LISTED.findall(cells)) == sorted(ec.desk.__all__)


def test_robots_and_statics_are_short() -> None:
    robot = ec.read_robot("kuka-kr270")
    q = np.tile(np.radians([0, -70, 92, 0, 68, 0]), (200, 1))
    for result in (robot, robot.nominal, robot.kinematics(q), robot.stiffness(q)):
        assert len(repr(result)) < 2000
    moved = robot.deflection(q[:3], [0, 0, -500, 0, 0, 0])
    assert len(repr(moved)) < 300
    assert len(moved.to_frame()) == 3


def test_a_validation_has_verdict_rows_and_a_table() -> None:
    robot = ec.read_robot("kuka-kr270").nominal
    rng = np.random.default_rng(1)
    q = rng.uniform(-0.8, 0.8, (40, 6)) + np.array([0, -1.2, 1.4, 0, 0.6, 0])
    truth = robot.with_elements(*_offsets(robot, 1e-3))
    data, other = (ec.simulate(truth, part, noise=3e-5, rng=s) for s, part in enumerate((q[:25], q[25:])))
    cal = ec.calibrate(robot, data, "geometry", outliers=False)
    v = cal.validate(other)
    assert v.verdict.code == "validated"
    assert v.verdict.data["gain"] == pytest.approx(v.before.mean - v.after.mean)
    assert len(v.to_frame()) == len(v.rows()) == 15
    assert v._repr_html_().startswith("<pre>")
    assert len(repr(v)) < 2000
    worse = ec.simulate(robot, q[25:], noise=3e-5, rng=7)
    bad = cal.validate(worse)
    assert (bad.verdict.code, bad.verdict.severity) == ("worse", "warning")
    assert [w.code for w in bad.warnings] == ["coverage"]


def _offsets(robot, size):
    from elastocal.model.compliant.joint_offset import JointOffset

    return [JointOffset(joint=j, offset=size * (-1) ** i) for i, j in enumerate(robot.joints) if j not in ("A1", "A6")]


def test_a_table_without_pandas_is_a_list_of_records(monkeypatch: pytest.MonkeyPatch) -> None:
    from elastocal.results import as_frame

    monkeypatch.setitem(sys.modules, "pandas", None)
    assert as_frame([{"a": 1}]) == [{"a": 1}]
    (row,) = as_frame([{"a": np.float64(0.5), "b": "x"}])
    assert {k: type(v) for k, v in row.items()} == {"a": float, "b": str}


def test_iso_figures_from_arrays() -> None:
    aims = np.array([[1.0, 0, 0.5], [1.0, 0.4, 0.5]])
    reached = aims[:, None] + 1e-4 * np.random.default_rng(1).normal(size=(2, 30, 3)) + [1e-3, 0, 0]
    found = ec.iso9283(aims, reached, path=True)
    assert found.poses[0].accuracy == pytest.approx(1e-3, rel=0.1)
    assert found.path is not None
    assert found.path.accuracy == max(p.accuracy for p in found.poses)
    assert len(found.distances) == 1
    assert len(found.to_frame()) == 2
    assert len(repr(found)) < 300


def test_a_calibrated_robot_is_exported_and_says_what_is_lost(tmp_path: Path) -> None:
    robot = ec.read_robot("kuka-kr270")
    lost = ec.export(robot, yaml=tmp_path / "r.yaml", kinematics=tmp_path / "k.yaml")
    again = ec.read_robot(tmp_path / "r.yaml")
    assert again.parameters.names == robot.parameters.names
    assert "shoulder" in (tmp_path / "k.yaml").read_text()
    assert isinstance(lost, tuple)
    with pytest.raises(ec.InputError):
        ec.export(robot)


def test_no_export_overwrites_what_it_is_made_from(tmp_path: Path) -> None:
    source = tmp_path / "arm.urdf"
    source.write_text("<robot/>")
    robot = ec.read_robot("kuka-kr270")
    with refused("same-file", file="arm.urdf"):
        ec.export(robot, urdf=str(source), source=source)
    with refused("same-file", file="r.yaml"):
        ec.export(robot, yaml=tmp_path / "r.yaml", kinematics=tmp_path / "r.yaml")
    assert [p.name for p in tmp_path.iterdir()] == ["arm.urdf"]
    assert source.read_text() == "<robot/>"


def test_a_robot_is_read_from_its_text() -> None:
    text = (
        "format: elastocal-robot/1\nname: lift\nsource: by hand\n"
        "joints:\n  - {name: Z, type: prismatic, axis: [0, 0, 1]}\n  - {name: tip, xyz_mm: [300, 0, 0]}\n"
    )
    np.testing.assert_allclose(ec.read_robot(text).kinematics([0.5]).position, [[0.3, 0, 0.5]])
    assert ec.read_robot(text, tool="Z").tool == "Z"
    with refused("unknown-key", "speed", file="robot", line=6):
        ec.read_robot(text.replace("xyz_mm", "speed: 3, xyz_mm"))
