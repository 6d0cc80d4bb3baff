"""Springs that a robot file lacks, in loaded campaigns: named before hysteresis and drift, which they look like."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from oracle.draws import draws
from oracle.wrong_models import ALARMS, MARKERS, NOISE, places, true_robot

import elastocal as ec
from elastocal.model.compliant.link_compliance import LinkCompliance

CHANGES = ("moved", "marker-moved", "exchanged", "drift")
FILE = ec.read_robot("kuka-kr270")


def loaded(seed: int, poses: int, mode: Literal["push", "hang"]) -> ec.Campaign:
    """Positions of a KR 270 without load, then under loads that grow: pushes anywhere, or weights that hang."""
    truth, rng = true_robot("none", np.random.default_rng([seed, 3])), np.random.default_rng([seed, poses, 7])
    low, high = 0.7 * np.array([m.limits for m in FILE.motions]).T
    q = low + (high - low) * rng.random((poses, FILE.n))
    push = rng.normal(size=(poses, 3))
    wrench = np.zeros((poses, 6))
    wrench[:, :3] = rng.uniform(1000, 3000, size=(poses, 1)) * push / np.linalg.norm(push, axis=1, keepdims=True)
    if mode == "hang":
        wrench[:] = 0
        wrench[:, 2] = -rng.choice([500, 1000, 2000, 3000], size=poses)
    wrench = wrench[np.argsort(np.abs(wrench).sum(axis=1))]
    seen = np.concatenate([places(truth, q, 0 * wrench), places(truth, q, wrench)])
    shown = np.tile(FILE.controller.to_controller(q), (2, 1))
    return ec.Campaign(
        q=shown, position=seen + NOISE * rng.normal(size=seen.shape), wrench=np.concatenate([0 * wrench, wrench]),
        noise=NOISE, length="m", angle="rad", markers=MARKERS,
    )  # fmt: skip


def half() -> ec.Robot:
    """The file without its first three links: it has links, so that no bearings are sought."""
    first = [e for e in FILE.elements if isinstance(e, LinkCompliance)][:3]
    return replace(FILE, elements=tuple(e for e in FILE.elements if not any(e is f for f in first)))


@pytest.mark.parametrize("seed", range(draws(1, 8)))
def test_links_that_the_file_lacks_are_named_and_not_hysteresis(seed: int) -> None:
    cal = ec.calibrate(half(), loaded(seed, 24, "push"))
    (alarm,) = [w for w in cal.warnings if w.code in ALARMS]
    assert alarm.data["best"].startswith("a spring that the model lacks at A")


@pytest.mark.parametrize("seed", [1, *range(draws(0, 12))])
def test_a_compensator_that_the_file_lacks_is_named_and_not_hysteresis(seed: int) -> None:
    """The whole file but for it: A2 is stiffer at some angles than at others."""
    cal = ec.calibrate(FILE.without("gravity_compensator"), loaded(seed, 24, "push"))
    alarm = next(w for w in cal.warnings if w.code in ALARMS)
    assert alarm.data["best"].startswith("a spring that the model lacks at A2, such as a gravity compensator")


def test_loads_that_grow_are_no_move_of_the_instrument() -> None:
    """Gears alone, and bearings not asked for: what they leave grows with the load, and that with the rows."""
    cal = ec.calibrate(FILE.without("link_compliance"), loaded(1, 24, "hang"), ["geometry", "compliance"])
    assert [w.code for w in cal.warnings if w.code in CHANGES] == []
    assert "doubts" not in cal.verdict.data
    (alarm,) = [w for w in cal.warnings if w.code in ALARMS]
    assert alarm.data["best"].startswith(("bearings of", "a spring that the model lacks at"))


def test_an_instrument_that_was_moved_under_load_is_still_named() -> None:
    given = loaded(1, 24, "hang")
    moved = given.position.copy()
    moved[30:] += [3e-4, -2e-4, 4e-4]
    cal = ec.calibrate(FILE.without("link_compliance"), given.changed(position=moved), ["geometry", "compliance"])
    assert [w.data["row"] for w in cal.warnings if w.code == "moved"] == [30]


def test_a_file_that_has_all_its_springs_gives_no_alarm() -> None:
    count = draws(1, 30)
    cals = [ec.calibrate(FILE, loaded(100 + seed, 12, "hang")) for seed in range(count)]
    assert sum(any(w.code in (*ALARMS, *CHANGES) for w in cal.warnings) for cal in cals) <= count // 10
