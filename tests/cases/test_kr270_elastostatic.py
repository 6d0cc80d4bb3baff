"""The figures of the KR-270's elastostatic case: sizes, ranks, the path of the reduction, compensation."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.cases.kr270_elastostatic import observed_rank
from elastocal.files.robot_yaml import read_robot


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
    assert 0.25 < got["left_mm"] / got["predicted_sd_mm"] < 4
    assert got["left_mm_vertical"] > 20 * got["predicted_sd_mm_vertical"]  # axis 1 is in no covariance
    assert 3 < got["deflection_mm"] < 10
    assert got["left_mm"] < got["left_mm_budget"] < 0.1 < got["left_mm_vertical"]
    for f in of.figures:
        if f.name.startswith("accuracy_percent_"):
            assert 0.05 < f.recomputed < f.published  # the real readings scattered more than the budget


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
