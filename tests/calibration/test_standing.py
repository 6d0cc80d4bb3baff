"""Repeats tell how well an arm comes back only where it was away between them."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws
from virtual import campaign, joint_values, shipped, true_robot

from elastocal.calibration.calibration import Calibration
from elastocal.calibration.run import calibrate
from elastocal.measure.sources.arm import Repeatability
from elastocal.measure.sources.instrument import Reading

KR270 = shipped("kuka-kr270")
READ, STOPS = 1e-5, 2e-5
"""Noise of the instrument in m, and how far joints stop elsewhere in rad."""


def calibrated(
    seed: int, *, stands: bool, parted: bool = False, stops: float = STOPS, ripple: float = 0.0, noise: object = None
) -> Calibration:
    """36 poses, three times each; ``ripple`` in rad of every joint, of an order that no model word knows."""
    rng = np.random.default_rng([seed, 31])
    truth = true_robot(KR270, rng, ("geometry",))
    q = joint_values(KR270, 36, rng)
    again = np.tile(np.arange(36), 3) if parted else np.repeat(np.arange(36), 3)
    off = stops * rng.normal(size=(3 * 36, KR270.n))
    off = off[3 * again] if stands else off
    at = q[again] + off + ripple * np.sin(7 * q[again] + 1)
    read = truth.points(at) + READ * rng.normal(size=(3 * 36, 1, 3))
    return calibrate(KR270, campaign(q[again], KR270, position=read, noise=noise), ["geometry"])


def codes(cal: Calibration) -> set[str]:
    return {w.code for w in cal.warnings}


@pytest.mark.parametrize("seed", range(draws(1, 20)))
@pytest.mark.parametrize("stated", [False, True])
def test_an_instrument_that_reads_again_while_the_arm_stands_is_no_lack_of_fit(seed: int, stated: bool) -> None:
    noise = [Reading(sd=READ), Repeatability(sd=5e-5)] if stated else None
    cal = calibrated(seed, stands=True, noise=noise)
    assert "lack-of-fit" not in codes(cal)
    (note,) = [w for w in cal.warnings if w.code == "standing-repeats"]
    assert READ < note.data["returns"] < note.data["shown"] < 5 * STOPS


@pytest.mark.parametrize("seed", range(draws(1, 20)))
def test_an_arm_that_comes_back_between_rows_that_follow_each_other_is_told_by_its_scatter(seed: int) -> None:
    """A ripple of 0.05 mrad may hide in how badly an arm comes back, where it stood."""
    assert not codes(calibrated(seed, stands=False)) & {"lack-of-fit", "standing-repeats"}
    assert "lack-of-fit" in codes(calibrated(seed, stands=False, ripple=5e-5))
    assert "standing-repeats" in codes(calibrated(seed, stands=True, ripple=2e-5))


def test_other_poses_between_repeats_say_that_it_came_back() -> None:
    """Joints that always stop alike scatter nothing: the order of the rows says it then."""
    assert "lack-of-fit" in codes(calibrated(1, stands=False, parted=True, stops=0.0, ripple=2e-5))
    assert codes(calibrated(1, stands=False, stops=0.0, ripple=2e-5)) & {"lack-of-fit", "standing-repeats"} == {
        "standing-repeats"
    }


def test_a_misfit_beyond_what_arms_come_back_by_is_seen_standing_too() -> None:
    assert "lack-of-fit" in codes(calibrated(0, stands=True, ripple=3e-4))
