"""A refit keeps the model of a calibration and ends where a cold fit of the same model ends."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from virtual import campaign, joint_values, read_positions, shipped, true_robot

import elastocal as ec
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.campaign import Campaign
from elastocal.calibration.fit import fit
from elastocal.calibration.tables import ladder_table
from elastocal.errors import ConflictError

ROBOT = shipped("kuka-kr270")
BAD = (17, "b", "z")


@cache
def readings() -> Campaign:
    """Forty poses of two markers, one number of which is 2 mm off."""
    rng = np.random.default_rng(3)
    truth = true_robot(ROBOT, rng, ("geometry", "weight"), markers=2)
    q = joint_values(ROBOT, 40, rng)
    x = read_positions(truth, q, rng, 3e-5)
    x[17, 1, 2] += 2e-3
    return campaign(q, ROBOT, position=x, markers=["a", "b"])


@cache
def cold() -> Calibration:
    return ec.calibrate(ROBOT, readings())


def without(*rows: int) -> Campaign:
    return readings().take(np.setdiff1d(np.arange(readings().count), rows))


def largest_change(a: Calibration, b: Calibration) -> float:
    """In standard deviations."""
    assert a.names == b.names
    return max(abs(a.parameters[n].value - b.parameters[n].value) / b.parameters[n].sd for n in a.names)


def test_nothing_changed_nothing_changes(tmp_path: Path) -> None:
    start = ec.read_calibration(cold().save(tmp_path / "start.json"))
    again = ec.calibrate(ROBOT, readings(), start=start)
    assert largest_change(again, cold()) < 1e-3
    assert [(o.row, o.marker, o.axis) for o in again.outliers] == [BAD]
    assert again.inflation == pytest.approx(cold().inflation, rel=1e-4)
    assert again.leave_one_out.rms == pytest.approx(cold().leave_one_out.rms, rel=1e-4)


def test_outliers_are_found_again_under_other_names() -> None:
    """A table that was renamed, or whose lines moved: nothing tells that a reading was left out before."""
    same = readings()
    moved = Campaign(q=same.q[1:], position=same.position[1:], length="m", angle="rad", markers=["a", "b"])
    again = ec.calibrate(ROBOT, moved, start=cold())
    assert [(o.row, o.marker, o.axis) for o in again.outliers] == [(16, "b", "z")]
    assert again.leave_one_out.rms == pytest.approx(cold().leave_one_out.rms, rel=0.1)


def test_without_poses_it_is_the_cold_fit_of_the_same_model() -> None:
    """Three poses move estimates by far more than the two ways differ."""
    refit, words = ec.calibrate(ROBOT, without(5, 11, 22), start=cold()), cold().words
    chosen = cold().ladder.chosen
    alike = [
        r
        for r in ec.calibrate(ROBOT, without(5, 11, 22), words).ladder.rungs
        if (r.words, r.family) == (words, chosen.family)
    ]
    rough = alike[-1].fit  # a model that was tried; its search is taken to the end
    whole = fit(rough.task, *rough.start, rough.posterior.log_scales)
    values = dict(zip(whole.task.names, whole.values.tolist(), strict=True))
    change = max(abs(refit.parameters[n].value - values[n]) / refit.parameters[n].sd for n in refit.names)
    assert change < 0.02
    assert largest_change(refit, cold()) > 10 * change
    assert refit.words == words


def test_an_outlier_is_decided_on_again() -> None:
    """Excluded it is gone; kept by hand it stays in and spoils the fit; a new one is found."""
    assert ec.calibrate(ROBOT, without(17), start=cold()).outliers == ()
    kept = ec.calibrate(ROBOT, readings().keeping([17]), start=cold())
    assert kept.outliers == ()
    assert kept.leave_one_out.max > 1e-3 > cold().leave_one_out.max
    data = readings().take(np.arange(readings().count))
    assert data.position is not None
    data.position[30, 0] += [0.0, 3e-3, 0.0]
    found = ec.calibrate(ROBOT, data, start=cold())
    assert {(o.row, o.marker, o.axis) for o in found.outliers} == {BAD, (30, "a", "y")}


def test_it_says_that_the_model_was_kept_and_of_what_choice(tmp_path: Path) -> None:
    first = ec.calibrate(ROBOT, without(5), start=cold())
    second = ec.calibrate(ROBOT, without(5, 6), start=ec.read_calibration(first.save(tmp_path / "first.json")))
    for refit in (first, second):
        said = [w for w in refit.warnings if w.code == "model-kept"]
        assert [w.data for w in said] == [{"words": list(cold().words), "tried": len(cold().ladder.rungs)}]
        assert len(refit.ladder.rungs) == 3  # two noises of the nominal robot, and the model
        labels = [r.label for r in refit.ladder.choice.rungs]
        assert labels == [r.label for r in cold().ladder.rungs]
    assert not [w for w in cold().warnings if w.code == "model-kept"]


def test_a_refit_that_the_model_failed_does_not_lose_it() -> None:
    """With a noise of 20 mm no model beats the nominal robot; the next readings are good again."""
    rng = np.random.default_rng(8)
    data = readings().take(np.arange(readings().count))
    assert data.position is not None
    data.position[:] += 0.02 * rng.normal(size=data.position.shape)
    failed = ec.calibrate(ROBOT, data, start=cold())
    assert (failed.words, failed.ladder.worth_it) == ((), False)
    assert (failed.verdict.code, failed.verdict.severity) == ("kept-fails", "warning")
    table, gain = ladder_table(failed), failed.ladder.gain
    assert [row[-1] for row in table.rows] == [""] * len(cold().ladder.rungs)
    assert f"{1e3 * gain:.3f} mm, standard error {1e3 * failed.ladder.gain_se:.3f} mm" in table.notes[-1]
    assert gain != pytest.approx(cold().ladder.gain, abs=1e-5)
    assert [row[-1] for row in ladder_table(cold()).rows].count("yes") == 1
    assert largest_change(ec.calibrate(ROBOT, readings(), start=failed), cold()) < 0.05


def test_backlash_under_load_keeps_its_sides_and_its_gaps() -> None:
    robot, q = ec.read_robot("kuka-kr270"), np.random.default_rng(1).uniform(-0.7, 0.7, (24, 6))
    force = np.zeros((24, 6))
    force[np.arange(24), np.arange(24) % 3] = 2000.0
    data = _deflections(robot, q, force)
    start = ec.calibrate(robot, data, ["compliance", "backlash"])
    again = ec.calibrate(robot, data, start=start)
    assert largest_change(again, start) < 0.05
    assert again.ladder.chosen.label == start.ladder.chosen.label


def _deflections(robot: ec.Robot, q: np.ndarray, force: np.ndarray) -> Campaign:
    """Of a robot whose compliances are a third larger, and the backlash of A2 and A3 three times."""
    table, worse = robot.parameters, {}
    for name, value in zip(table.names, table.values.tolist(), strict=True):
        worse[name] = value * (1.3 if name.endswith(".k") else 3.0 if name in ("A2.gap", "A3.gap") else 1.0)
    moved = robot.with_parameters(worse).deflection(q, force).translation
    moved = moved + 1e-5 * np.random.default_rng(2).normal(size=moved.shape)
    return ec.Campaign(q=robot.controller.to_controller(q), deflection=moved, wrench=force, length="m", angle="rad")


def test_a_start_of_another_robot_or_with_a_model_is_refused() -> None:
    with pytest.raises(ConflictError):
        ec.calibrate(ROBOT, readings(), ["geometry"], start=cold())
    with pytest.raises(ConflictError) as refused:
        ec.calibrate(ec.read_robot("cylindrical"), _cylindrical(), start=cold())
    assert refused.value.parameter == "start"
    with pytest.raises(ConflictError) as refused:  # the same joints, and another arm
        ec.calibrate(replace(ROBOT, name="kr270-2"), readings(), start=cold())
    assert refused.value.parameter == "start"


def _cylindrical() -> Campaign:
    robot, k = ec.read_robot("cylindrical"), np.arange(9)
    q = np.column_stack([0.1 + 0.08 * k, np.cos(k), 0.4 + 0.05 * (k % 5)])
    force = np.zeros((9, 6))
    force[k, k % 3] = 900.0
    return ec.Campaign(
        q=q, deflection=robot.deflection(q, force).translation, wrench=force, length="m", angle="rad", noise=1e-5
    )
