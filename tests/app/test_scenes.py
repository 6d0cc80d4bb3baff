"""Scenes of the commands, as JSON: what is drawn is what the tables say, at the scale that the notes say."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.program_desk import HOME, lay_program
from app.virtual_desk import Chain, asked, findings

Run = Callable[..., Any]
ARM_AT = ("--at", "20", "--force", "0,0,-500")
CELL = """\
format: elastocal-plan/1
name: small cell
robot: cylindrical
statics: linear
seek: ["*.k"]
errors:
  - {kind: tracker, at_mm: [4000, 1000, 1200], along_um: 5, across_um: 8}
loads:
  - {kind: actuator, name: jack, sizes_N: [400, 800], directions: [[0, 0, 1], [0, 1, 0], [1, 0, 0]]}
candidates: 100
link_radius_mm: 50
obstacles:
  - {kind: sphere, name: post, centre_mm: [-600, -600, 500], radius_mm: 200}
  - {kind: box, name: table, centre_mm: [0, 2200, 400], size_mm: [1500, 1000, 800]}
  - {kind: capsule, name: pillar, start_mm: [-1800, -1800, 0], end_mm: [-1800, -1800, 3000], radius_mm: 100}
poses: 12
"""


def named(scene: Any, name: str, view: str | None = None) -> list[Any]:
    """Parts whose name starts so, of one view (None: of any)."""
    return [p for p in scene["parts"] if p["name"].startswith(name) and view in (None, p.get("view", ""))]


def factor(text: str) -> float:
    return float(re.search(r"([\d ]+) times larger", text)[1].replace(" ", ""))  # type: ignore[index]


def vectors(arrows: Any) -> np.ndarray:
    return np.array(arrows["ends"]) - np.array(arrows["starts"])


# --- deflect ---------------------------------------------------------------------------------------------------------
def test_the_bent_arm_shows_the_deflection_at_the_stated_factor(run: Run, arm: Path) -> None:
    """500 N at 2 m bends 1e-6 rad/(N m) by 1 mrad cos(q), and the tip by 2 mm of that."""
    answer = run("deflect", arm, *ARM_AT, "--json").data
    scene, row = answer["scene"], answer["deflections"][0]
    times = factor(scene["notes"][0])
    rest = np.array(named(scene, "at rest")[0]["lines"][0][-1])
    bent = np.array(named(scene, "bent")[0]["shapes"][-1]["end"])
    moved = np.array([row[f"d{c}_mm"] for c in "xyz"])
    assert np.linalg.norm(moved) == pytest.approx(2.0 * np.cos(np.radians(10.0)), rel=2e-3)
    assert 1e3 * (bent - rest) == pytest.approx(times * moved, rel=1e-6)
    assert named(scene, "bent")[0]["name"].endswith(f"{times:g} times larger")
    assert 1e3 * np.linalg.norm(bent - rest) < 0.15 * 2000 * 1.001


def test_the_load_points_where_it_pushes(run: Run, arm: Path) -> None:
    scene = run("deflect", arm, "--at", "20", "--force", "100,200,-500", "--json").data["scene"]
    (load,) = named(scene, "load")
    along = vectors(load)[0]
    assert along / np.linalg.norm(along) == pytest.approx(np.array([100, 200, -500]) / np.sqrt(3e5))
    assert load["words"] == ["547.7 N"]
    assert any("547.7 N" in n for n in scene["notes"])


def test_a_following_load_turns_with_the_tool(run: Run, arm: Path) -> None:
    scene = run("deflect", arm, "--at", "-30", "--force", "0,0,-500", "--follow", "--json").data["scene"]
    along = vectors(named(scene, "load")[0])[0]
    q = np.radians(-(-30 - 10))
    turned = np.array([[np.cos(q), 0, np.sin(q)], [0, 1, 0], [-np.sin(q), 0, np.cos(q)]]) @ [0, 0, -1]
    assert along / np.linalg.norm(along) == pytest.approx(turned)


def test_many_poses_are_thinned_and_the_report_says_so(run: Run, arm: Path) -> None:
    at = [w for i in range(12) for w in ("--at", f"{-50 + 8 * i}")]
    scene = run("deflect", arm, *at, "--force", "0,0,-500", "--json").data["scene"]
    assert len({p["view"] for p in scene["parts"]}) == 8
    assert "8 of 12 poses are drawn, far from each other." in scene["notes"]


def test_sag_starts_from_the_rigid_arm(run: Run, chained: Chain) -> None:
    answer = run("deflect", chained.folder / "arm.yaml", "--at", "0,-30,60", "--sag", "--json").data
    scene, row = answer["scene"], answer["deflections"][0]
    rest = np.array(named(scene, "at rest")[0]["lines"][0][-1])
    bent = np.array(named(scene, "bent")[0]["shapes"][-1]["end"])
    assert row["size_mm"] > 0.01
    assert 1e3 * np.linalg.norm(bent - rest) == pytest.approx(factor(scene["notes"][0]) * row["size_mm"], rel=1e-6)
    assert not named(scene, "load")


# --- calibrate -------------------------------------------------------------------------------------------------------
def test_measured_deflections_are_drawn_at_their_markers(chained: Chain) -> None:
    scene = chained.identified["scene"]
    rows = csv.DictReader(io.StringIO((chained.folder / "virtual" / "readings.csv").read_text(encoding="utf-8")))
    read = np.array([[[float(r[f"{m}.d{c}_m"]) for c in "xyz"] for m in ("m1", "m2")] for r in rows]).reshape(-1, 3)
    times = factor(scene["notes"][0])
    (drawn,) = named(scene, "measured", "all poses")
    (odd,) = named(scene, "outliers", "all poses")
    gone = chained.identified["outliers_removed"][0]
    reading = int(re.search(r"line (\d+)", gone["place"])[1]) - 2  # type: ignore[index]
    flagged = 2 * reading + (", m2" in gone["place"])
    kept = np.delete(read, flagged, axis=0)
    assert vectors(drawn) == pytest.approx(times * kept, rel=1e-6, abs=1e-9)
    assert len(odd["starts"]) == 1
    direction = vectors(odd)[0] / np.linalg.norm(vectors(odd)[0])
    assert direction == pytest.approx(read[flagged] / np.linalg.norm(read[flagged]))
    assert f"reading {reading + 1}" in {p.get("view") for p in scene["parts"]}  # it has a view of its own
    (model,) = named(scene, "calibrated model", "all poses")
    away = np.linalg.norm(np.delete(vectors(model), flagged, axis=0) - vectors(drawn), axis=1)
    assert 0 < 1e3 * away.max() / times < 0.15  # the noise: tens of micrometres


def test_the_report_compares_before_and_after_on_poses_left_out(chained: Chain) -> None:
    curves = {s["name"]: s for s in chained.identified["left_out"]["series"]}
    before, after, fitted = (
        np.sqrt(np.nanmean(np.array(curves[n]["y"], dtype=float) ** 2))
        for n in ("before, robot file", "after, leave-one-out", "after, residual of the fit")
    )
    assert fitted < after < before / 2
    assert 1e6 * findings(chained.identified)["errors"]["nominal"] == pytest.approx(before, rel=0.05)


def test_the_gross_error_is_marked_in_the_residuals(chained: Chain) -> None:
    curves = {s["name"]: s for s in chained.identified["residuals"]["series"]}
    gone = chained.identified["outliers_removed"][0]
    off = 1e3 * (gone["value"] - gone["predicted"])
    marked = curves["outliers"]
    others = max(abs(v) for n, s in curves.items() if n != "outliers" for v in s["y"] if v is not None)
    assert len(marked["y"]) == 1
    assert marked["y"][0] == pytest.approx(np.clip(off, -2 * others, 2 * others))
    assert abs(off) > others
    own = curves[gone["place"].rpartition(" ")[2]]  # the axis has a gap where the mark stands, and nowhere else
    assert [x for x, y in zip(own["x"], own["y"], strict=True) if y is None] == marked["x"]


def test_maps_of_the_calibrated_robot_agree_with_its_predictions(chained: Chain) -> None:
    """One cell of the map against ``predict`` there, and against ``stiffness`` of a robot with the found values."""
    found = chained.identified["deflection_map"]
    others = next(n for n in chained.identified["notes"] if n.startswith("The other axes stand at"))
    at = {m[1]: float(m[2]) for m in re.finditer(r"(J\d) (-?[\d.]+) deg", others)}
    i, j = 7, 18
    at |= {found["x"]["name"]: found["x"]["values"][j], found["y"]["name"]: found["y"]["values"][i]}
    force = re.search(r"Force \(([^)]*)\) N", found["title"])[1]  # type: ignore[index]
    where = ("--at", ",".join(str(at[k]) for k in ("J1", "J2", "J3")), "--force", force, "--ignore-limits")
    row = asked("predict", chained.calibration, *where)["predictions"][0]
    assert found["values"][i][j] == pytest.approx(np.linalg.norm([row[f"d{c}_mm"] for c in "xyz"]), rel=2e-3)
    assert found["values"][i][j] > 0.1
    table = list(csv.DictReader((chained.folder / "virtual" / "readings.csv").read_text("utf-8").splitlines()))
    sizes = [np.linalg.norm([float(r[f"f{c}_N"]) for c in "xyz"]) for r in table]
    assert max(sizes) > min(sizes)
    assert np.linalg.norm([float(v) for v in force.split(",")]) == pytest.approx(max(sizes), rel=1e-3)


# --- predict ---------------------------------------------------------------------------------------------------------
def test_ellipsoids_of_a_prediction_have_its_semi_axes(run: Run, chained: Chain) -> None:
    answer = run("predict", chained.calibration, "--at", "20,-50,80", "--force", "0,0,-350", "--json").data
    scene, row = answer["scene"], answer["predictions"][0]
    (drawn,) = named(scene, "one-sigma ellipsoid")
    moved, unsure = (float(v.replace(" ", "")) for v in re.findall(r"([\d ]+) times larger", scene["notes"][0]))
    sizes = sorted(1e6 * np.linalg.norm(drawn["axes"][0], axis=1) / unsure, reverse=True)
    assert sizes == pytest.approx([row[f"ellipsoid_{n}_um"] for n in (1, 2, 3)], rel=1e-6)
    (arrow,) = named(scene, "deflection")
    assert 1e3 * vectors(arrow)[0] / moved == pytest.approx([row[f"d{c}_mm"] for c in "xyz"], rel=1e-6)
    assert drawn["centres"][0] == pytest.approx(arrow["ends"][0])


# --- plan ------------------------------------------------------------------------------------------------------------
def test_a_plan_shows_its_poses_loads_obstacles_and_tracker(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cell.yaml").write_text(CELL)
    answer = run("plan", tmp_path / "cell.yaml", "--restarts", 1, "--out", tmp_path / "out", "--json").data
    scene, rows = answer["scene"], answer["plan"]
    (dots,) = named(scene, "chosen poses")
    assert 1e3 * np.array(dots["points"]) == pytest.approx(np.array([[r[f"{c}_mm"] for c in "xyz"] for r in rows]))
    (loads,) = named(scene, "load", "all poses")
    force = np.array([[r[f"f{c}_N"] for c in "xyz"] for r in rows])
    scale = np.linalg.norm(vectors(loads)) / np.linalg.norm(force)
    assert vectors(loads) == pytest.approx(scale * force)
    parts = named(scene, "obstacles")
    assert [p["kind"] for p in parts] == ["ellipsoids", "strokes", "strokes", "ellipsoids"]
    edges = np.array(parts[1]["lines"])
    assert np.sort(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)) == pytest.approx(
        [0.8] * 4 + [1.0] * 4 + [1.5] * 4
    )
    assert named(scene, "tracker")[0]["points"] == [[4.0, 1.0, 1.2]]
    assert all(line[0] == [4.0, 1.0, 1.2] for p in named(scene, "line of sight") for line in p["lines"])
    assert "8 of 12 arms are drawn, far from each other." in scene["notes"]


# --- compensate ------------------------------------------------------------------------------------------------------
def test_a_program_shows_its_errors_before_and_after(run: Run, tmp_path: Path) -> None:
    words = ("--robot", "kuka-kr270", "--near", HOME, "--force", "-400,0,-150", "--out", tmp_path / "new", "--json")
    answer = run("compensate", lay_program(tmp_path, "csv"), *words).data
    scene, rows = answer["scene_errors"], answer["targets"]
    times = factor(scene["notes"][0])
    (before,) = named(scene, "before")
    assert 1e3 * np.linalg.norm(vectors(before), axis=1) / times == pytest.approx(
        [r["before_mm"] for r in rows], rel=1e-6
    )
    (path,) = named(scene, "program")
    assert len(path["lines"][0]) == len(rows)
    assert not named(scene, "expected after correction")  # no calibration: nothing is known of it
    assert before["words"] == [f"{1e3 * r['before_mm']:.4g} um" for r in rows]
    # what the commands were moved by is what the tool went astray, turned back: the same to the first order
    moved = np.array([[r[f"shift_{c}_mm"] for c in "xyz"] for r in rows])
    astray = 1e3 * vectors(before) / times
    assert np.linalg.norm(moved, axis=1).min() > 0.1
    assert astray == pytest.approx(-moved, abs=0.02 * np.abs(moved).max())
    arms = named(answer["scene_robot"], "arm")
    assert 1 <= len(arms) <= 8


def test_the_first_view_of_the_robot_at_work_is_one_under_load(run: Run, tmp_path: Path) -> None:
    program = lay_program(tmp_path, "csv")
    last = len(program.read_text().splitlines())
    words = ("--robot", "kuka-kr270", "--near", HOME, "--force", "-400,0,-150", "--load-lines", str(last))
    scene = run("compensate", program, *words, "--out", tmp_path / "new", "--json").data["scene_robot"]
    arms, loads = named(scene, "arm"), named(scene, "load")
    assert len(arms) > 2
    assert f"line {last}" in arms[0]["view"]
    assert [bool(np.any(vectors(load))) for load in loads] == [True, *[False] * (len(loads) - 1)]


def test_ellipsoids_along_a_program_are_those_of_its_targets(run: Run, kr5_cell: Path, tmp_path: Path) -> None:
    cell = Path(shutil.copytree(kr5_cell, tmp_path / "cell"))
    answer = run("compensate", cell, "--force", "-40,0,-20", "--json").data
    scene, rows = answer["scene_errors"], answer["targets"]
    (drawn,) = named(scene, "expected after correction")
    times = factor(drawn["name"])
    assert times > 1
    assert any(
        f"(one standard deviation) are drawn {times:,.10g} times larger".replace(",", " ") in n for n in scene["notes"]
    )
    (after,), (before,) = named(scene, "after"), named(scene, "before")
    assert factor(after["name"]) == times > factor(before["name"])
    assert f"{factor(before['name']):.10g} times larger before and " in scene["notes"][0]
    off = 1e6 * np.linalg.norm(vectors(after), axis=1) / times
    assert off == pytest.approx([r["after_um"] for r in rows if r["after_um"] > 0], rel=1e-6)
    assert off.min() > 0
    (path,) = named(scene, "program")
    assert drawn["centres"] == path["lines"][0]
    axes = np.array(drawn["axes"]) / times
    stated = [[r[f"sd_{n}_um"] for n in (1, 2, 3)] for r in rows]
    assert 1e6 * np.linalg.norm(axes, axis=2) == pytest.approx(np.array(stated), rel=1e-6)
    crossed = np.einsum("nik,njk->nij", axes, axes)
    assert crossed[:, 0, 1:] == pytest.approx(0, abs=1e-9 * crossed[:, 0, 0].max())
