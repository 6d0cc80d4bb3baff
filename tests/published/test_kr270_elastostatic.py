"""The figures of the KR-270's elastostatic case: sizes, ranks, the path of the reduction, compensation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from elastocal.files.robot.read import read_robot
from elastocal.published import kr270_experiment as ex
from elastocal.published.case import Kind, Why
from elastocal.published.kr270_elastostatic import observed_rank
from elastocal.published.kr270_experiment import spring_ratios


def test_model_sizes_and_ranks(outcome, figure) -> None:
    of = outcome("kr270-elastostatic")
    published = {f.name: f.published for f in of.figures}
    sizes = {"params_complete": 260, "params_links_joints": 258, "params_symmetric": 153, "params_template": 62}
    for name, count in sizes.items():
        assert figure(of, name) == published[name] == count
    assert figure(of, "rank_links_joints") == 180
    assert figure(of, "rank_symmetric") == 105
    assert figure(of, "rank_template") == 33


@pytest.mark.parametrize("seed", [2, 3])
def test_ranks_do_not_depend_on_the_draw(seed) -> None:
    robot, rng = read_robot("kuka-kr270"), np.random.default_rng(seed)
    assert [observed_rank(robot, form, rng).rank for form in ("full", "symmetric", "beam")] == [180, 105, 33]


def test_figures_of_the_experiment(outcome) -> None:
    of = outcome("kr270-elastostatic")
    got = {f.name: f.recomputed for f in of.figures}
    assert got["compensated_percent"] > 99
    assert got["compensated_percent_vertical"] < got["compensated_percent"] - 20
    assert got["compensated_percent_vertical_own"] > 99
    assert 0.5 < got["compensated_percent"] - got["compensated_percent_all_at_once"] < 5
    assert 95 < got["compensated_percent_budget"] < got["compensated_percent"]
    assert got["compensated_percent_least"] > 98
    assert 13 <= got["practical_count_fewest"] <= got["practical_count_most"] <= 22
    assert 13 <= got["practical_count"] <= 22
    assert 9 <= got["practical_count_budget"] <= got["practical_count"]
    assert got["practical_count_all_at_once"] < got["practical_count"]
    assert [got[f"identifiable_{s}"] for s in ("complete", "symmetric", "template")] == [162, 99, 32]
    assert got["params_algebraic"] == 32
    share = 100 * (1 - got["left_mm"] / got["deflection_mm"])
    assert got["compensated_percent"] == pytest.approx(share, abs=1e-9)
    assert 0.5 < got["left_mm"] / got["predicted_sd_mm"] < 2
    assert 0.5 < got["left_mm_budget"] / got["predicted_sd_mm_budget"] < 2
    assert got["left_mm_vertical"] < got["predicted_sd_mm_vertical"]  # axis 1 was not seen, and that is said
    assert got["predicted_sd_mm_vertical"] > 1
    assert 3 < got["deflection_mm"] < 10
    assert got["left_mm"] < got["left_mm_budget"] < 0.1 < got["left_mm_vertical"]
    for f in of.figures:
        if f.name.startswith("accuracy_percent_"):
            assert 0.05 < f.recomputed < f.published  # the real readings scattered more than the budget
            assert f.why is (Why.OPEN if f.published > 2 * f.recomputed else Why.VIRTUAL)
    assert [f.kind for f in of.figures if f.at_least] == [Kind.SIZE]


def test_the_path_is_drawn_as_counted(outcome, figure) -> None:
    of = outcome("kr270-elastostatic")
    (curve,) = of.curves
    stages = ("complete", "symmetric", "template", "algebraic", "m3")
    assert curve.series[0].x == (258, 153, 62, 32, figure(of, "practical_count"))
    assert curve.series[0].y == tuple(figure(of, f"left_out_um_{s}") for s in stages)
    assert curve.series[0].y[0] > 4 * curve.series[0].y[1] > 4 * curve.series[0].y[2]
    noise = 10 * np.sqrt(2)
    assert noise * 0.9 < curve.series[0].y[4] < noise * 1.3


def test_the_verdict_is_made_of_the_figures(outcome, figure) -> None:
    of = outcome("kr270-elastostatic")
    assert f"compensate {figure(of, 'compensated_percent'):.1f} %" in of.verdict
    assert "more than the printed 95 %" in of.verdict
    assert f"{figure(of, 'practical_count'):g} parameters stand out" in of.verdict
    assert "the compensator known" in of.verdict
    assert "Not covered" in of.verdict


def test_the_path_from_260_is_a_table_and_everything_that_fell_has_its_reason(outcome, figure) -> None:
    of = outcome("kr270-elastostatic")
    path, fallen = of.listings
    counts = [row["parameters"] for row in path.rows]
    assert counts == [260, 258, 153, 62, 32, figure(of, "practical_count")]
    assert f"path is {' -> '.join(str(c) for c in counts)}." in of.verdict
    assert [row["told apart"] for row in path.rows[1:]] == [162, 99, 32, 32, counts[-1]]
    assert path.rows[-1]["pose left out [um]"] == round(figure(of, "left_out_um_m3"), 1)
    assert sum(row["count"] for row in fallen.rows) == 260 - counts[-1]
    by = {stage: sum(r["count"] for r in fallen.rows if r["stage"] == stage) for stage in
          ("compensator", "symmetry M1", "template M2", "algebraic", "M3")}  # fmt: skip
    assert list(by.values()) == [a - b for a, b in pairwise(counts)]
    assert all(row["why"] for row in fallen.rows)
    assert all("is below 5" in row["why"] for row in fallen.rows if row["stage"] == "M3")
    assert fallen.rows[0]["parameters"] == "A2.k_c A2.s_0"
    assert fallen.rows[0]["held at"] == "1.44e-07 and 0.458"


def test_how_far_the_spring_would_stand_out_is_what_repeated_fits_scatter() -> None:
    """Against least squares on columns by differences of the loaded model, with numpy's own inverse."""
    robot, rng = read_robot("kuka-kr270"), np.random.default_rng(4)
    campaign = ex.measured(robot, ex.two_setups(robot, rng), ex.tracker_only(), rng, "loaded")
    found = ex.identified(robot, campaign)
    model, kind = robot.with_link_form("beam"), campaign.measurement
    names = [*found.whole.names, "A2.k_c", "A2.s_0"]
    columns = []
    for name in names:
        p = model.parameters.rows[model.parameters.index(name)]
        step = 1e-3 * max(abs(p.value), p.scale)
        up, down = (kind.predict(model.with_parameters({name: p.value + s * step})) for s in (1, -1))
        columns.append((up - down).reshape(-1) / (2 * step) / (np.sqrt(2) * ex.TRACKER))
    a = np.column_stack(columns)
    size = np.linalg.norm(a, axis=0)
    sd = np.sqrt(np.diag(np.linalg.pinv(a / size) @ np.linalg.pinv(a / size).T)) / size
    said = spring_ratios(robot, found)
    assert said["A2.k_c"] == pytest.approx(1.44e-7 / sd[-2], rel=0.01)
    assert said["A2.s_0"] == pytest.approx(0.458 / sd[-1], rel=0.01)
