"""Plan files: everything that they say, and one sentence for everything that they may get wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.design.cell import Link
from elastocal.design.feasibility.collision import Obstacles
from elastocal.design.loading import Hanging
from elastocal.design.obstacles import BoxObstacle
from elastocal.files.plan.read import is_plan, read_plan_file

PLAN = """\
format: elastocal-plan/1
name: cell
robot: kuka-kr270
markers: [marker1, marker2]
seek: ["A[2-6].k"]
hold: [A6.k]
errors:
  - {kind: tracker, at_mm: [4000, 0, 1000], along_um: 5, across_um: 10}
loads:
  - {kind: hanging, masses_kg: [100, 250], points: [tool, flange], room_mm: 400, floor_mm: 0}
candidates: 500
links:
  - {between: [A2, link2_end], radius_mm: 150}
obstacles:
  - {kind: box, name: table, centre_mm: [0, 2000, 400], size_mm: [1000, 500, 800], rpy_deg: [0, 0, 30]}
feasible:
  - {kind: obstacles, clearance_mm: 50}
poses: 9
repeats: 2
criterion: {d: 1, test_pose: 2}
test: {table: path.csv, over: largest, force_N: [0, 0, -500], near_deg: [0, -90, 90, 0, 30, 0]}
speeds_deg_s: {A1: 90}
change_min: 5
"""
PATH = "x_mm,y_mm,z_mm\n1500,0,1200\n1600,100,1200\n"


@pytest.fixture
def write(tmp_path: Path):
    def call(text: str = PLAN, path: str = PATH) -> Path:
        (tmp_path / "path.csv").write_text(path)
        (tmp_path / "cell.yaml").write_text(text)
        return tmp_path / "cell.yaml"

    return call


SLIDES = """\
format: elastocal-plan/1
name: cell
robot: cylindrical
loads: [{kind: hanging, masses_kg: [100]}]
test: {low_mm: [300, 0, 100], high_mm: [400, 100, 200], near_deg: [30], near_slides_mm: [500, 600]}
"""


def test_axes_that_slide_start_from_millimetres(write) -> None:
    tests = read_plan_file(write(SLIDES)).tests
    assert tests is not None
    np.testing.assert_allclose(tests.near, [[0.5, np.pi / 6, 0.6]], rtol=1e-12)
    with refused("shape", file="cell.yaml", line=5, column="test.near_slides"):
        read_plan_file(write(SLIDES.replace(", near_slides_mm: [500, 600]", "")))
    with refused("shape", [500, 30, 600], file="cell.yaml", line=5, column="test.near_deg"):
        read_plan_file(write(SLIDES.replace("[30], near_slides_mm: [500, 600]", "[500, 30, 600]")))


def test_everything_is_read(write) -> None:
    plan = read_plan_file(write())
    task = plan.task
    assert is_plan(write())
    assert task.loadings == (Hanging(masses=(100.0, 250.0), points=("tool", "flange"), room=0.4, floor=0.0),)
    assert task.filters == (Obstacles(clearance=0.05),)
    assert task.cell.links == (Link("A2", "link2_end", 0.15),)
    (box,) = task.cell.obstacles
    assert isinstance(box, BoxObstacle)
    assert box.rpy[2] == pytest.approx(np.pi / 6)
    assert task.cell.tracker == (4.0, 0.0, 1.0)
    assert task.cell.markers == ("marker1", "marker2")
    assert (task.count, task.repeats, task.draw.count) == (9, 2, 500)
    assert dict(task.weights) == {"d": 1.0, "test_pose": 2.0}
    assert (task.over, plan.change) == ("largest", 300.0)
    assert plan.speeds == pytest.approx([np.pi / 2, *[np.nan] * 5], nan_ok=True)
    assert task.hold == ("A6.k",)
    assert plan.tests is not None
    np.testing.assert_allclose(plan.tests.points, [[1.5, 0, 1.2], [1.6, 0.1, 1.2]])
    np.testing.assert_allclose(plan.tests.near, np.radians([[0, -90, 90, 0, 30, 0]]))
    np.testing.assert_allclose(plan.tests.wrenches, [[0, 0, -500, 0, 0, 0]])
    assert [f.name for f in plan.files] == ["cell.yaml", "path.csv"]


def test_a_path_of_axes_with_loads_of_its_own(write) -> None:
    path = "A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,fz_N\n10,-90,90,0,30,0,-700\n"
    plan = read_plan_file(write(PLAN.replace(", force_N: [0, 0, -500]", ""), path))
    assert plan.tests is not None
    assert plan.tests.q is not None
    np.testing.assert_allclose(plan.tests.q, np.radians([[10, -90, 90, 0, 30, 0]]))
    np.testing.assert_allclose(plan.tests.wrenches, [[0, 0, -700, 0, 0, 0]])


def test_boxes_round_the_task(write) -> None:
    plan = read_plan_file(write(PLAN + "around: {table: path.csv, room_mm: 100}\n"))
    assert [b.low for b in plan.task.draw.around] == [pytest.approx((1.4, -0.1, 1.1)), pytest.approx((1.5, 0.0, 1.1))]
    plan = read_plan_file(write(PLAN + "around: {low_mm: [1, 2, 3], high_mm: [4, 5, 6]}\n"))
    assert plan.task.draw.around[0].high == pytest.approx((0.004, 0.005, 0.006))


def test_links_of_one_radius(write) -> None:
    text = PLAN.replace("links:\n  - {between: [A2, link2_end], radius_mm: 150}", "link_radius_mm: 100")
    links = read_plan_file(write(text)).task.cell.links
    assert ("A2", "link2_end", 0.1) in [(k.start, k.end, k.radius) for k in links]
    assert len(links) == 8


@pytest.mark.parametrize(
    ("old", "new", "code", "value", "line", "column"),
    [
        ("plan/1", "plan/2", "format", "elastocal-plan/2", 1, "format"),
        ("kind: hanging, masses", "kind: hangin, masses", "unknown-kind-of-load", "hangin", 10, "loads[1].kind"),
        ("masses_kg", "masses_N", "unit", [100, 250], 10, "loads[1].masses_N"),
        ("points: [tool, flange]", "points: [hand]", "unknown-frame", "hand", 10, "loads[1]"),
        ("{kind: obstacles,", "{kind: obstacle,", "unknown-kind-of-filter", "obstacle", 17, "feasible[1].kind"),
        ("{kind: box,", "{kind: bx,", "unknown-kind-of-obstacle", "bx", 15, "obstacles[1].kind"),
        ("{kind: box, name: table, ", "{name: table} # ", "missing", {"name": "table"}, 15, "obstacles[1]"),
        ("size_mm: [1000, 500, 800]", "size_mm: [1000, 500, 0]", "range", (1.0, 0.5, 0.0), 15, "obstacles[1]"),
        ("radius_mm: 150", "radius_mm: 0", "range", 0, 13, "links[1].radius_mm"),
        ("between: [A2", "between: [A9", "unknown-frame", "A9", 13, "links[1]"),
        ("poses: 9", "poses: 0", "range", 0, 18, "poses"),
        ("poses: 9", "poses: 1000000", "range", 1000000, 18, "poses"),
        ("{d: 1, test_pose: 2}", "{d: 1, g: 2}", "unknown-criterion", "g", 20, "criterion"),
        ("{d: 1, test_pose: 2}", "{d: 1, test_pose: inf}", "range", "inf", 20, "criterion.test_pose"),
        ("{d: 1, test_pose: 2}", "{d: -1}", "range", -1, 20, "criterion.d"),
        ("table: path.csv", "table: lost.csv", "no-file", "lost.csv", 21, "test.table"),
        ("table: path.csv, over: largest, ", "over: largest} # ", "missing", {"over": "largest"}, 21, "test"),
        ("[0, -90, 90, 0, 30, 0]", "[0, 1]", "shape", [0, 1], 21, "test.near_deg"),
        (
            "[0, -90, 90, 0, 30, 0]",
            "[0, -90, 90, 0, 30, 0], near_slides_mm: [5]",
            "shape",
            [5],
            21,
            "test.near_slides_mm",
        ),
        ("{A1: 90}", "{B1: 90}", "unknown-axis", "B1", 22, "speeds_deg_s"),
        ("{A1: 90}", "{A1: 0}", "range", 0, 22, "speeds_deg_s.A1"),
        ("[marker1, marker2]", "[marker1, marker1]", "duplicate", ["marker1", "marker1"], 4, "markers"),
        ("A[2-6].k", "A[7-8].k", "unknown-parameter-matching", "A[7-8].k", 5, "seek"),
        ("change_min", "change_mim", "unit", 5, 23, "change_mim"),
        ("change_min: 5", "change_min: -5", "range", -5, 23, "change_min"),
        (
            "change_min: 5",
            "link_radius_mm: 3",
            "conflict",
            [{"between": ["A2", "link2_end"], "radius_mm": 150}],
            12,
            "links",
        ),
        ("change_min: 5", "turns: true\nmeasurement: position", "unsupported", True, 23, "turns"),
        ("change_min: 5", "around: {low_mm: [0, 0, 0]}", "missing", {"low_mm": [0, 0, 0]}, 23, "around"),
        (
            "change_min: 5",
            "around: {low_m: [0, 0, 0], high_m: [1, 0, 1]}",
            "range",
            ((0.0, 0.0, 0.0), (1.0, 0.0, 1.0)),
            23,
            "around",
        ),
    ],
)
def test_mistakes_are_named_by_their_place(
    write, old: str, new: str, code: str, value: Any, line: int, column: str
) -> None:
    assert old in PLAN
    with refused(code, value, file="cell.yaml", line=line, column=column):
        read_plan_file(write(PLAN.replace(old, new, 1)))


def test_a_load_is_given_once(write) -> None:
    path = "x_mm,y_mm,z_mm,fz_N\n1500,0,1200,-10\n"
    with refused("conflict", [0, 0, -500], file="cell.yaml", line=21, column="test.force_N"):
        read_plan_file(write(PLAN, path))
