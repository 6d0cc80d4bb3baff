"""Plan files: everything that they say, and one sentence for everything that they may get wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.design.cell import Link
from elastocal.design.feasibility.collision import Obstacles
from elastocal.design.loading.loading import Hanging
from elastocal.design.obstacles.obstacle import BoxObstacle
from elastocal.errors import InputError
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
    with refused("input", file="cell.yaml", line=5, column="test"):
        read_plan_file(write(SLIDES.replace(", near_slides_mm: [500, 600]", "")))
    with refused("input", file="cell.yaml", line=5, column="test"):
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
    ("old", "new", "said"),
    [
        ("plan/1", "plan/2", r"line 1, format: elastocal-plan/2 is of another version"),
        ("kind: hanging, masses", "kind: hangin, masses", r"line 10, loads\[1\].kind: there is no kind of load 'h"),
        ("masses_kg", "masses_N", r"line 10, loads\[1\].masses_N: masses is a mass, but N is a unit of force"),
        ("points: [tool, flange]", "points: [hand]", r"line 10, loads\[1\]: there is no frame 'hand'"),
        ("{kind: obstacles,", "{kind: obstacle,", r"feasible\[1\].kind: there is no kind of filter 'obstacle'"),
        ("{kind: box,", "{kind: bx,", r"obstacles\[1\].kind: there is no kind of obstacle 'bx'"),
        ("{kind: box, ", "{", r"an obstacle needs a kind: box, capsule, floor, mesh, sphere"),
        ("size_mm: [1000, 500, 800]", "size_mm: [1000, 500, 0]", r"obstacles\[1\]: .*three positive lengths"),
        ("radius_mm: 150", "radius_mm: 0", r"links\[1\]: its radius must be positive"),
        ("between: [A2", "between: [A9", r"there is no frame 'A9'"),
        ("poses: 9", "poses: 0", r"poses: 0 must be from 1 to 1000"),
        ("poses: 9", "poses: 1000000", r"poses: 1000000 are too many, at most 2000"),
        ("{d: 1, test_pose: 2}", "{d: 1, g: 2}", r"there is no criterion 'g'"),
        ("{d: 1, test_pose: 2}", "{d: 1, test_pose: inf}", r"the weight of test_pose must be positive and finite"),
        ("{d: 1, test_pose: 2}", "{d: -1}", r"the weight of d must be positive"),
        ("table: path.csv", "table: lost.csv", r"test.table: there is no file"),
        ("table: path.csv, ", "", r"give a table, or the corners low and high of a box"),
        (
            "near_deg: [0, -90, 90, 0, 30, 0]",
            "near_deg: [0, 1]",
            r"near_deg: 6 controller values are needed, one for each axis that turns \(A1, .*A6\), but 2 were given",
        ),
        (
            "near_deg: [0, -90, 90, 0, 30, 0]",
            "near_deg: [0, -90, 90, 0, 30, 0], near_slides_mm: [5]",
            r"near_slides_mm: 0 controller values are needed, .*slides \(there is none\), but 1 were given",
        ),
        ("{A1: 90}", "{B1: 90}", r"there is no axis 'B1'"),
        ("{A1: 90}", "{A1: 0}", r"the speed of A1 must be positive"),
        ("[marker1, marker2]", "[marker1, marker1]", r"a marker stands twice"),
        ("A[2-6].k", "A[7-8].k", r"seek: there is no parameter matching"),
        ("change_min", "change_mim", r"unit mim is not known for change"),
        ("change_min: 5", "change_min: -5", r"must not be negative"),
        ("change_min: 5", "link_radius_mm: 3", r"keep one"),
        ("change_min: 5", "turns: true\nmeasurement: position", r"turns: orientations are planned for deflections"),
        ("change_min: 5", "around: {low_mm: [0, 0, 0]}", r"around: give low and high of a box, or a table"),
        ("change_min: 5", "around: {low_mm: [0, 0, 0], high_mm: [1, 0, 1]}", r"around: .*lower bound must be below"),
    ],
)
def test_mistakes_are_named_by_their_place(write, old, new, said) -> None:
    assert old in PLAN
    with pytest.raises(InputError, match=said):
        read_plan_file(write(PLAN.replace(old, new, 1)))


def test_a_load_is_given_once(write) -> None:
    path = "x_mm,y_mm,z_mm,fz_N\n1500,0,1200,-10\n"
    with refused("input", file="cell.yaml", line=21, column="test"):
        read_plan_file(write(PLAN, path))
