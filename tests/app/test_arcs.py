"""The command that fits tracked points: numbers against scipy's least squares, every output, every wrong file."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from oracle.table_one import ROWS, points_csv
from scipy.optimize import least_squares

Q = np.radians([r[0] for r in ROWS])
P1, P01, P02 = (np.array([r[1 + 2 * k : 3 + 2 * k] for r in ROWS]) for k in range(3))


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(points_csv(), encoding="utf-8")
    return path


def rows(data, table, **where):
    return [r for r in data[table] if all(r[k] == v for k, v in where.items())]


def spread(found):
    """Standard deviations from scipy's Jacobian and residuals."""
    j = found.jac
    return np.sqrt(np.diag(np.linalg.inv(j.T @ j)) * 2 * found.cost / (len(found.fun) - j.shape[1]))


def test_known_angles_agree_with_least_squares_over_both_senses(points, run):
    def off(x, sense):
        angle = x[3] + sense * Q
        return (P1 - x[:2] - x[2] * np.column_stack([np.cos(angle), np.sin(angle)])).reshape(-1)

    fits = {s: least_squares(off, [0.0, 0.0, 180.0, 1.7], args=(s,), xtol=1e-14, ftol=1e-14) for s in (1, -1)}
    best = fits[-1]
    assert best.cost < 1e-3 * fits[1].cost
    done = run("arcs", points, "--known", "P1", "--json")
    assert done.code == 0
    (arc,) = rows(done.data, "arcs", marker="P1", method="known angles")
    sd = spread(best)
    assert arc["radius_mm"] == pytest.approx(best.x[2], abs=1e-6)
    assert arc["radius_sd_mm"] == pytest.approx(sd[2], rel=1e-5)
    assert [arc["centre_x_mm"], arc["centre_y_mm"]] == pytest.approx(best.x[:2], abs=1e-6)
    assert arc["residual_sd_mm"] == pytest.approx(np.sqrt(2 * best.cost / 8), rel=1e-6)
    assert arc["rms_mm"] == pytest.approx(np.sqrt(2 * best.cost / 12), rel=1e-6)
    (known,) = done.data["known_angles"]
    assert known["sense"] == "against"
    assert known["other_sense_mm"] == pytest.approx(81.62, abs=0.01)
    assert np.arctan2(known["zero_y"], known["zero_x"]) == pytest.approx(best.x[3], abs=1e-8)
    assert known["gain_radius"] == pytest.approx(1.96, abs=0.005)
    assert known["paper_radius_sd_mm"] == pytest.approx(arc["residual_sd_mm"] / np.sqrt(6), rel=1e-9)
    assert "runs against the angle" in done.err


def test_arcs_without_angles_agree_with_least_squares(points, run):
    def off(x):
        return np.concatenate([np.linalg.norm(p - x[:2], axis=1) - r for p, r in ((P01, x[2]), (P02, x[3]))])

    best = least_squares(off, [-680.0, -110.0, 190.0, 190.0], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    data = run("arcs", points, "--known", "P1", "--json").data
    for marker, radius, sd in zip(("P01", "P02"), best.x[2:], spread(best)[2:], strict=True):
        (arc,) = rows(data, "arcs", marker=marker, method="common axis, geometric")
        assert arc["radius_mm"] == pytest.approx(radius, abs=1e-5)
        assert arc["radius_sd_mm"] == pytest.approx(sd, rel=1e-4)
        assert [arc["centre_x_mm"], arc["centre_y_mm"]] == pytest.approx(best.x[:2], abs=1e-5)
    (paper,) = rows(data, "arcs", marker="P01", method="common axis")
    assert [paper["centre_x_mm"], paper["centre_y_mm"]] == pytest.approx([-685.833, -117.571], abs=5e-4)
    free, common = data["variants"]
    assert (free["model"], common["agrees"]) == ("concentric", "agree")
    assert common["centre_sd_x_mm"] == pytest.approx(0.586, abs=5e-4)


def test_residuals_of_every_point_with_its_line(points, run, tmp_path):
    table, page = tmp_path / "out.csv", tmp_path / "out.html"
    done = run("arcs", points, "--known", "P1", "--csv", table, "--report", page)
    assert done.code == 0
    assert "No outliers." in done.out
    found = list(csv.DictReader(io.StringIO(table.read_text())))
    assert [int(r["line"]) for r in found] == list(range(2, 20))
    centre, radius = np.array([0.1604, 1.84121]), 184.7195
    for r, p in zip(found[:6], P1, strict=True):
        assert float(r["radial_mm"]) == pytest.approx(np.linalg.norm(p - centre) - radius, abs=2e-4)
    assert {r["along_mm"] for r in found[6:]} == {""}
    html = page.read_text(encoding="utf-8")
    assert "184.7195" in html
    assert "Residuals across the arc" in html


def test_outliers_are_named_by_line_and_coordinate(points, run):
    text = points_csv().replace("-173.3,65.12", "-173.3,56.12").replace("-872.5,-109.9", "-872.5,-139.9")
    points.write_text(text, encoding="utf-8")
    data = run("arcs", points, "--known", "P1", "--json").data
    first, second = data["outliers"]
    assert (first["marker"], first["pose"], first["line"], first["coordinate"]) == ("P1", "3", 4, "y")
    assert first["predicted_mm"] == pytest.approx(65.12, abs=0.1)
    assert (second["marker"], second["line"], second["coordinate"]) == ("P01", 10, "y")
    assert second["predicted_mm"] == pytest.approx(-109.9, abs=0.5)
    everything, rest = rows(data, "arcs", marker="P1", method="known angles")
    assert (everything["points"], rest["points"]) == ("all", "without outliers")
    assert everything["residual_sd_mm"] > 2
    assert rest["radius_mm"] == pytest.approx(184.72, abs=0.05)
    assert [r["line"] for r in data["points"] if not r["used"]] == [4, 10]


def in_space(q, noise, seed, axis=(0.3, -0.5, 0.8)):
    """A point on a radius of 200 mm about an inclined axis, as a file."""
    n = np.array(axis) / np.linalg.norm(axis)
    e = np.cross(n, [1.0, 0, 0])
    e /= np.linalg.norm(e)
    centre = np.array([1000.0, -400.0, 700.0])
    p = centre + 200 * (np.outer(np.cos(q), e) + np.outer(np.sin(q), np.cross(n, e)))
    p += noise * np.random.default_rng(seed).normal(size=p.shape)
    lines = [f"{np.degrees(a):.9f},{x:.6f},{y:.6f},{z:.6f}" for a, (x, y, z) in zip(q, p, strict=True)]
    return n, centre, "q_deg,x_mm,y_mm,z_mm\n" + "\n".join(lines) + "\n"


def test_an_arc_in_space_has_an_axis_and_a_sense_about_it(tmp_path, run):
    path = tmp_path / "arc.csv"
    n, centre, text = in_space(np.linspace(-2.0, 0.4, 9), 0.02, 3)
    path.write_text(text)
    (arc, *_) = run("arcs", path, "--noise-um", 20, "--json").data["arcs"]
    axis = np.array([arc["axis_x"], arc["axis_y"], arc["axis_z"]])
    assert np.linalg.norm(axis - n) < 5e-3 * arc["axis_sd_mrad"]
    z = [(arc[f"centre_{c}_mm"] - v) / arc[f"centre_sd_{c}_mm"] for c, v in zip("xyz", centre, strict=True)]
    assert np.abs(z).max() < 4
    assert abs(arc["radius_mm"] - 200) < 4 * arc["radius_sd_mm"]
    said = run("arcs", path, "--axis", "0,0,-1", "--json").data["known_angles"][0]["sense"]
    assert said == "against"
    wrong = run("arcs", path, "--sense", "with", "--axis", "0,0,-1")
    assert wrong.code == 2
    assert "mirrored" in wrong.err
    assert '--axis "X,Y,Z"' in run("arcs", path, "--sense", "with").err


def test_poses_may_be_named_and_points_unseen(points, run):
    text = points_csv().replace("P02,6,-145.0,-864.66,-176.01", "P02,6,-145.0,,")
    points.write_text(text, encoding="utf-8")
    data = run("arcs", points, "--known", "P1", "--json").data
    assert len(data["points"]) == 17
    assert data["variants"][1]["agrees"] == "agree"


ARC = "x_mm,y_mm,q_{}\n100,0,0\n86.603,50,30\n50,86.603,60\n0,100,90\n-50,86.603,120\n"


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("x_mm,y_mm,q_deg\n0,1,0\n1,0,90\n", (), "2 points do not make an arc"),
        ("x_mm,y_mm\n0,1\n1,0\n", (), "measure at least 3"),
        ("x_mm,y_mm,q_deg\n0,0,0\n1,1,30\n2,2,60\n", (), "straight line"),
        ("x_mm,y_mm\n0,0\n1,1\n2,2\n3,3\n", (), "straight line"),
        ("x_mm,y_mm,q_deg\n1,0,3\n0,1,3\n-1,0,3\n", (), "all angles are equal"),
        (ARC.format("rad"), (), "column q_rad look like degrees; name it q_deg"),
        (ARC.format("deg").replace(",30\n", ",0.5236\n").replace(",60\n", ",1.0472\n").replace(",90\n", ",1.5708\n")
         .replace(",120\n", ",2.0944\n"), (), "column q_deg look like radians; name it q_rad"),
        ("x_mm,y_mm\n1,2\nnan,nan\n3,4\n", (), "line 3, column x_mm: 'nan' is not a number; leave all coordinates"),
        (ARC.format("deg"), ("--sense", "against"), "mirrored or the angle's sign is wrong"),
        (ARC.format("deg"), ("--sense", "withe"), "did you mean 'with'"),
        (ARC.format("deg"), ("--axis", "0,0,1"), "two coordinates"),
        (ARC.format("deg"), ("--noise-um", "0"), "--noise-um 0: must be a positive number"),
        (ARC.format("deg"), ("--known", "P7"), "there is no marker 'P7'"),
        (ARC.format("deg").replace(",90", ","), (), "line 5, column q: is empty"),
        (ARC.format("deg").replace("q_deg", "q"), (), "'q' has no unit; write q_deg or q_rad"),
        (ARC.format("deg").replace(",30", ",x"), (), "line 3, column q_deg: 'x' is not a number"),
        ("x_mm,y_mm\n1,2\n1,\n", (), "line 3, column y_mm: is empty"),
        ("x_mm,q_deg\n1,2\n", (), "there is no column for y; add y_mm"),
        ("x_mm,y_mm,q_deg,A2_deg\n1,2,3,4\n", (), "both give an angle"),
        ("x_mm,y_mm,w_mm\n1,2,3\n", (), "there is no column 'w_mm'"),
        ("x_mm,y_mm\n", (), "no points"),
        ("marker,pose,x_mm,y_mm\na,1,1,2\na,1,2,3\n", (), "has been read in pose 1 on line 2 already"),
        (points_csv(), (), "name those that turn by this angle, such as --known P1"),
        (points_csv().replace("P01,2,-30.0", "P01,2,-31.0"), ("--known", "P1"), "line 9: pose 2 stands at -31 deg"),
        ("marker,x_mm,y_mm\n" + "a,0,1\na,1,0\na,0,-1\nb,0,2\nb,2,0\n", (), "different numbers of rows (a 3, b 2)"),
        ("marker,pose,x_mm,y_mm\na,1,0,1\na,2,1,0\na,3,0,-1\nb,1,0,2\n", (), "marker b: 1 points draw no arc"),
    ],
)  # fmt: skip
def test_wrong_files_get_one_sentence_and_nothing_is_written(tmp_path, run, text, words, said):
    path, page = tmp_path / "t.csv", tmp_path / "out.html"
    path.write_text(text)
    done = run("arcs", path, *words, "--report", page)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not page.exists()
    assert not done.out


def marked(points):
    """Markers as rows of a file: {marker: (poses, 3)}."""
    rows = [f"{m},{i},{x:.6f},{y:.6f},{z:.6f}" for m, p in points.items() for i, (x, y, z) in enumerate(p)]
    return "marker,pose,x_mm,y_mm,z_mm\n" + "\n".join(rows) + "\n"


def circle(centre, radius, t, height, seed):
    p = np.column_stack([radius * np.cos(t), radius * np.sin(t), np.full(len(t), height)]) + centre
    return p + 0.015 * np.random.default_rng(seed).normal(size=p.shape)


def test_markers_about_two_axes_are_told(tmp_path, run):
    path, t = tmp_path / "t.csv", np.linspace(0, 1.5, 7)
    body = {f"H{j}": circle(np.zeros(3), r, t + b, h, j) for j, (r, b, h) in enumerate([(190, 0, 50), (210, 2, -60)])}
    path.write_text(marked(body))
    good = run("arcs", path, "--noise-um", 15, "--json").data
    assert "do not turn about one axis" not in str(good["verdict"])
    assert good["variants"][1]["agrees"] == "agree"
    own = {a["marker"]: a["centre_z_mm"] for a in good["arcs"] if a["method"] == "common axis"}
    assert own == pytest.approx({"H0": 50, "H1": -60}, abs=0.1)
    assert "heights along it H0" in good["verdict"][0]
    path.write_text(marked(body | {"P1": circle(np.array([690.0, 120, 0]), 185, -t, 20, 9)}))
    done = run("arcs", path, "--noise-um", 15, "--json")
    said = " ".join(done.data["verdict"])
    assert "The markers do not turn about one axis" in said
    assert "times the stated noise" in said
    assert [v["model"] for v in done.data["variants"]] == ["concentric"]


def test_an_error_beyond_the_radius_does_not_stop_the_command(points, run):
    """5 m in P1 and in P01: both named, and the figures are those of the rest."""
    text = points_csv().replace("-173.3,65.12", "4826.7,65.12").replace("-872.5,-109.9", "4127.5,-109.9")
    points.write_text(text, encoding="utf-8")
    done = run("arcs", points, "--known", "P1", "--json")
    assert done.code == 0
    first, second = done.data["outliers"]
    assert (first["marker"], first["line"], first["coordinate"]) == ("P1", 4, "x")
    assert first["predicted_mm"] == pytest.approx(-173.3, abs=0.2)
    assert (second["marker"], second["line"], second["coordinate"]) == ("P01", 10, "x")
    (arc,) = rows(done.data, "arcs", marker="P1", method="known angles", points="without outliers")
    assert arc["radius_mm"] == pytest.approx(184.72, abs=0.05)


def test_a_wrong_angle_is_one_row(tmp_path, run):
    path = tmp_path / "arc.csv"
    text = in_space(np.radians(np.arange(-120.0, 30, 15)), 0.02, 3)[2]
    path.write_text(text.replace("-60.000000000", "-50.000000000"))
    (bad,) = run("arcs", path, "--json").data["outliers"]
    assert (bad["coordinate"], bad["read_mm"]) == ("angle", None)
    assert bad["angle_deg"] == pytest.approx(-60, abs=0.05)


def test_small_things_are_said(tmp_path, points, run):
    text = points_csv().replace("P02,6,-145.0,-864.66,-176.01", "P02,6,-145.0,,")
    points.write_text(text, encoding="utf-8")
    assert "has no coordinates: P02 in pose 6 (line 19)" in run("arcs", points, "--known", "P1", "--json").err
    points.write_text(points_csv().replace("_mm", "_m"), encoding="utf-8")
    assert "P1 184.7 m): check the unit" in run("arcs", points, "--known", "P1", "--json").err
    path = tmp_path / "three.csv"
    path.write_text("x_mm,y_mm\n100,0\n0,100\n-100,0\n")
    said = run("arcs", path, "--json").data["verdict"][0]
    assert "nan" not in said
    assert "radius point 100.0000 (sd unknown: no equation to spare) mm" in said
