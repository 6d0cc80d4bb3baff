"""Comparison: agrees where nothing has changed, names what has, and tells a moved instrument from a changed robot."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from calibration.virtual import Truth, campaign, joint_values, random_arm, read_positions, shipped, true_robot
from oracle.draws import draws
from scipy.special import chdtrc
from scipy.stats import kstest

import elastocal as ec
from elastocal.app.cli.main import app
from elastocal.app.commands.compare import CompareResult, page
from elastocal.calibration.comparison import CHANCE, SIGNIFICANT, Cause, Comparison, Step
from elastocal.calibration.estimates import Shrinkage, difference
from elastocal.errors import InputError
from elastocal.model.robot import Robot

WORDS = ["geometry"]


def read(truth: Truth, robot: Robot, seed: int, poses: int = 40) -> ec.Campaign:
    rng = np.random.default_rng(seed)
    q = joint_values(robot, poses, rng)
    return campaign(q, robot, position=read_positions(truth, q, rng))


@pytest.fixture(scope="module")
def calibrations() -> tuple[ec.Calibration, ec.Calibration, ec.Calibration]:
    """The same robot twice, and after joint J3 was mastered anew, 1 mrad off."""
    robot = random_arm(2)
    truth = true_robot(robot, np.random.default_rng(5), ("geometry",))
    names = truth.robot.parameters.names
    i = names.index("J3.offset")
    hit = truth.robot.with_parameters({"J3.offset": float(truth.robot.parameters.values[i]) + 1e-3})
    after = Truth(hit, robot, truth.markers, truth.stations, truth.tool_turn)
    made = [ec.calibrate(robot, read(t, robot, seed), WORDS) for t, seed in ((truth, 11), (truth, 12), (after, 13))]
    return made[0], made[1], made[2]


@pytest.fixture(scope="module")
def compared(calibrations: tuple[ec.Calibration, ...]) -> Comparison:
    return ec.compare(*calibrations, names=("january", "february", "november"))


def test_two_campaigns_of_one_robot_agree(compared: Comparison) -> None:
    same = compared.steps[0]
    assert not same.changed
    assert compared.verdict[0].code == "same"
    assert not any(c.significant for c in same.changes)
    assert same.tool is not None
    inside = same.tool.sizes() <= 3 * same.tool.sd
    assert inside.mean() > 0.9


def test_a_changed_joint_is_named_first(compared: Comparison) -> None:
    changed = compared.steps[1]
    assert compared.verdict[1].code == "changed"
    assert changed.changes[0].name == "J3.offset"
    assert changed.changes[0].value == pytest.approx(1e-3, abs=5 * changed.changes[0].sd)
    assert changed.tool is not None
    assert changed.tool.sizes().max() > 3 * changed.tool.sd.max()


def test_wider_standard_deviations_are_those_of_every_judgement(calibrations: tuple[ec.Calibration, ...]) -> None:
    """What widens the sd of parameters widens the test of all of them together and the tool's sd as well."""
    a, b = calibrations[0], calibrations[2]
    plain, wide = (ec.compare(replace(a, inflation=k), replace(b, inflation=k)).steps[0] for k in (1.0, 2.0))
    assert wide.chi2 == pytest.approx(plain.chi2 / 4)
    assert plain.tool is not None
    assert wide.tool is not None
    assert wide.tool.sd == pytest.approx(2 * plain.tool.sd)


def test_estimates_that_share_a_prior_differ_as_said() -> None:
    """Robots drawn anew, each calibrated twice: chi2 has the mean of its rank, the probability is below any level as
    often as that level says; the sum of both posteriors would be twice as wide along what priors decide."""
    robot, count = random_arm(2), draws(8, 100)
    chi2, rank, levels, causes = [], [], [], []
    for seed in range(count):
        truth = true_robot(robot, np.random.default_rng(1000 + seed), ("geometry",))
        a, b = (ec.calibrate(robot, read(truth, robot, 10 * seed + i), WORDS, outliers=False) for i in (1, 2))
        (step,) = ec.compare(replace(a, inflation=1.0), replace(b, inflation=1.0)).steps
        chi2.append(step.chi2)
        rank.append(step.rank)
        levels.append(step.probability)
        causes += [abs(c.value) / c.sd for c in step.causes]
    assert min(rank) >= 12  # of a six-axis arm with one marker about 18 combinations can be told
    assert max(rank) < len(a.names) / 1.5
    assert abs(sum(chi2) / sum(rank) - 1) < 4 * np.sqrt(2 / sum(rank))
    assert kstest(levels, "uniform").pvalue > 1e-3
    assert max(causes) < SIGNIFICANT


def test_one_cause_of_five_standard_deviations_is_a_change() -> None:
    """28 combinations, of which one alone is off by 5.2 sd: chi2 of all does not tell."""
    for size, changed in ((5.2, True), (4.8, False)):
        cause = Cause("J3.offset", "rad", size * 1e-5, 1e-5, size**2 / (27 + size**2))
        chance = float(chdtrc(28, 27 + size**2))
        assert chance > CHANCE
        assert Step("november", (), 27 + size**2, 28, chance, None, (cause,)).changed is changed


def test_a_tenth_of_a_milliradian_is_detected_and_its_joint_is_named() -> None:
    robot = shipped("kuka-kr270")
    truth = true_robot(robot, np.random.default_rng(5), ("geometry",))
    at = float(truth.robot.parameters.values[truth.robot.parameters.index("A2.offset")])
    hit = replace(truth, robot=truth.robot.with_parameters({"A2.offset": at + 1e-4}))
    a, b = (ec.calibrate(robot, read(t, robot, seed), WORDS) for t, seed in ((truth, 21), (hit, 22)))
    compared = ec.compare(a, b)
    (step,) = compared.steps
    assert step.probability < 1e-6
    (cause,) = (c for c in step.causes if c.name == "A2.offset")
    assert {c.name for c in step.causes} <= {"A2.offset", "A1.ry"}  # the tilt of its seat: one and the same motion
    assert cause.value == pytest.approx(1e-4, abs=4 * cause.sd)
    assert cause.sd < 2e-5
    assert "A2.offset" in [c["name"] for c in compared.verdict[0].data["causes"]]


def test_shrinkage_is_read_again(calibrations: tuple[ec.Calibration, ...], tmp_path: Path) -> None:
    a, _, b = calibrations
    again = ec.read_calibration(b.save(tmp_path / "b.json"))
    assert ec.compare(a, again).steps[0].chi2 == pytest.approx(ec.compare(a, b).steps[0].chi2)


def test_one_parameter_by_hand_with_priors_about_other_values() -> None:
    """A prior of sd 1 about 0, or about 5, and the mean of 9 or 16 readings of sd 1: the estimate is n y / (n + 1) and
    m / (n + 1) of the prior."""
    theta, few, many = 2.0, 9, 16
    a = Shrinkage(("k",), np.array([0.0]), np.eye(1), np.eye(1) / (few + 1))
    b = Shrinkage(("k",), np.array([5.0]), np.eye(1), np.eye(1) / (many + 1))
    d = (many * theta + 5) / (many + 1) - few * theta / (few + 1)
    along = difference(a, b, ["k"], np.array([d]), (1.0, 1.0))
    middle = 2.5  # of both priors
    expected = (many * middle + 5) / (many + 1) - few * middle / (few + 1)
    variance = few / (few + 1) ** 2 + many / (many + 1) ** 2 + (1 / (few + 1) - 1 / (many + 1)) ** 2
    assert along.rank == 1
    assert along.chi2 == pytest.approx((d - expected) ** 2 / variance)
    value, sd = along.alone()
    assert value[0] == pytest.approx((d - expected) * (many + 1) / many)
    assert sd[0] == pytest.approx(np.sqrt(variance) * (many + 1) / many)


def test_calibrations_with_nothing_in_common_are_not_said_to_agree(calibrations: tuple[ec.Calibration, ...]) -> None:
    a, b = calibrations[:2]
    names = [n for n in b.names if n in a.names]
    one, other = (_with_estimates(c, part) for c, part in ((a, names[::2]), (b, names[1::2])))
    compared = ec.compare(one, other)
    (verdict,) = compared.verdict
    assert (verdict.code, verdict.severity) == ("not-tested", "warning")
    assert "nothing in common can be tested" in verdict.text
    assert "agrees" not in verdict.text
    assert np.isnan(verdict.data["probability"])
    assert verdict.data["reason"] in verdict.text
    tile = page(CompareResult((Path("a.json"), Path("b.json")), a.robot, compared)).tiles[0]
    assert (tile.value, tile.state) == ("not tested", "open")


def _with_estimates(c: ec.Calibration, names: list[str]) -> ec.Calibration:
    """The same, as if it had estimated these parameters alone."""
    left = [i for i, n in enumerate(c.names) if n not in names]
    covariance = np.delete(np.delete(c.covariance, left, axis=0), left, axis=1)
    kept = replace(c.parameters, rows=tuple(r for r in c.parameters.rows if r.name in names))
    return replace(c, names=tuple(n for n in c.names if n in names), covariance=covariance, parameters=kept)


def test_the_order_of_items_turns_the_sign_only(calibrations: tuple[ec.Calibration, ...]) -> None:
    there, back = (ec.compare(a, b).steps[0] for a, b in (calibrations[::2], calibrations[::-2]))
    assert there.chi2 == pytest.approx(back.chi2)
    assert there.changes[0].value == pytest.approx(-back.changes[0].value)


def test_a_moved_instrument_is_no_drift_and_a_moved_joint_is() -> None:
    robot = random_arm(2)
    rng = np.random.default_rng(4)
    truth = true_robot(robot, rng, ("geometry",), markers=2, stations=2)
    q = np.repeat(joint_values(robot, 12, rng), 2, axis=0)
    first, moved = (campaign(q, robot, position=read_positions(truth, q, rng, station=s)) for s in (0, 1))
    hit = truth.robot.with_parameters({"J2.offset": 2e-3})
    other = Truth(hit, robot, truth.markers, truth.stations, truth.tool_turn)
    after = campaign(q, robot, position=read_positions(other, q, rng))
    quiet, loud = (ec.compare(first, b)[0].verdict[0] for b in (moved, after))
    assert quiet.code == "no-drift"
    assert quiet.data["moved_rms"] > 0.1
    assert quiet.data["sd"] == pytest.approx(np.sqrt(2) * 3e-5, rel=0.3)
    assert loud.code == "drift"


def test_what_does_not_compare_is_refused(calibrations: tuple[ec.Calibration, ...]) -> None:
    robot = random_arm(2)
    truth = true_robot(robot, np.random.default_rng(5), ("geometry",))
    data = read(truth, robot, 1, 5)
    for items in ((calibrations[0],), (calibrations[0], data), (data, read(truth, robot, 2, 5))):
        with pytest.raises(InputError):
            ec.compare(*items)  # type: ignore[call-overload]


def test_the_command_prints_writes_and_draws_one_object(
    calibrations: tuple[ec.Calibration, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(c.save(tmp_path / f"{n}.json")) for n, c in zip(("a", "b", "c"), calibrations, strict=True)]
    app(["compare", *files, "--report", str(tmp_path / "c.html"), "--json"], standalone_mode=False)
    data = json.loads(capsys.readouterr().out)
    assert [f["code"] for f in data["findings"]] == ["same", "changed"]
    assert data["parameters_2"][0]["name"] == "J3.offset"
    assert {"tool_1", "conditions", "change_2"} <= set(data)
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "DIFFERS" in page
    assert "J3.offset" in page
