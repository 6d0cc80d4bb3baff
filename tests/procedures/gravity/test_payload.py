"""A payload from a second log, as accurate as the arm without it is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.logs import logged, planar_arm, waves

from elastocal.files.robot.read import read_robot
from elastocal.measure.sources.friction import Friction
from elastocal.model.loads.payload import Payload
from elastocal.procedures.gravity.fit import fit_masses, identify_payload
from elastocal.procedures.gravity.samples import slow_samples

ARM = planar_arm()
CARRIED = ARM.with_elements(Payload(frame="tip", mass=2.5, moment=(0.3, 0.0, -0.2)))
TRUTH = {"tip.payload_m": 2.5, "tip.payload_mx": 0.3, "tip.payload_mz": -0.2}


def log_of(model, seed, noise=0.3, count=900, start=7, **more):
    q, v = waves(2, count, seed=start, size=1.2, rate=0.3)
    return slow_samples(ARM, logged(model, q, v, noise=noise, seed=seed, **more), friction=bool(more), share=0.05)


def test_the_payload_is_recovered_with_friction_in_both_logs():
    more = {"coulomb": (2.0, 1.0), "viscous": 3.0}
    arm = fit_masses(ARM, log_of(ARM, 1, 0.05, 2500, **more), friction=Friction())
    found = identify_payload(arm, log_of(CARRIED, 2, 0.05, 2500, start=8, **more), friction=Friction())
    values, sd = ({n: f(n) for n in found.names} for f in (found.value, found.sd))
    for name, truth in TRUTH.items():
        assert values[name] == pytest.approx(truth, abs=max(4 * sd[name], 0.02))
    assert sd["tip.payload_m"] < 0.1


def test_intervals_contain_the_arms_own_uncertainty():
    """With the arm taken as exact they would hold the truth far less often."""
    inside, blind = [], []
    for seed in range(20):
        arm = fit_masses(ARM, log_of(ARM, 2 * seed, 0.5, 300))
        found = identify_payload(arm, log_of(CARRIED, 2 * seed + 1, 0.5, 300, start=8))
        error = abs(found.value("tip.payload_m") - 2.5)
        inside.append(error < 1.96 * found.sd("tip.payload_m"))
        exact = replace(arm, covariance=1e-8 * arm.covariance)
        blind.append(error < 1.96 * identify_payload(exact, found.samples).sd("tip.payload_m"))
    assert np.mean(inside) >= 0.85
    assert np.mean(blind) < np.mean(inside)


def test_the_payload_hangs_where_the_robot_file_has_it():
    kr5 = read_robot("kuka-kr5")
    q, v = waves(6, 600, seed=4, size=0.8, rate=0.2)
    q = q + np.radians([0, -80, 80, 0, 20, 0])
    arm = fit_masses(kr5, slow_samples(kr5, logged(kr5, q, v, noise=0.1), friction=False, share=0.5))
    loaded = kr5.with_parameters({"flange.payload_m": 5.0, "flange.payload_mx": 0.6})
    second = slow_samples(kr5, logged(loaded, q, v, noise=0.1, seed=1), friction=False, share=0.5)
    found = identify_payload(arm, second)
    values = {n: found.value(n) for n in found.names}
    assert values["flange.payload_m"] == pytest.approx(5, abs=0.1)
    assert values["flange.payload_mx"] == pytest.approx(0.6, abs=0.05)
    elsewhere = identify_payload(arm, second, "tool")
    assert "tool.payload_m" in elsewhere.names
