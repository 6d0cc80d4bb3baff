"""Temperature as a column of the campaign, and parameters of which something is known beforehand."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

import elastocal as ec
from elastocal.calibration.given import priors_of
from elastocal.calibration.tool import tool_of
from elastocal.calibration.words import with_words


def seen(robot: ec.Robot, q: np.ndarray, heat: np.ndarray, expansion: float) -> np.ndarray:
    """Points of an arm all of whose lengths grow, by plain kinematics of a scaled robot: no element takes part."""
    at = robot.kinematics(q)
    return np.asarray(at.position * (1 + expansion * heat[:, None]))


def test_growth_is_found_and_predicted_at_other_temperatures() -> None:
    rng = np.random.default_rng(2)
    robot = ec.read_robot("fanuc-m710ic50").nominal
    low, high = 0.6 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((80, robot.n))
    heat = 20 + 15 * rng.random(80)
    points = seen(robot, q, heat - 20, 23e-6)
    shown = robot.controller.to_controller(q)
    noisy = points + 1e-5 * rng.normal(size=points.shape)
    data = ec.Campaign(q=shown[:50], position=noisy[:50], temperature=heat[:50], length="m", angle="rad")
    cal = ec.calibrate(robot, data, model=("geometry", "thermal"))
    assert cal.words == ("geometry", "thermal")
    warm = cal.predict(shown[50:], temperature=heat[50:]).position[:, 0]
    cold = cal.predict(shown[50:]).position[:, 0]
    assert not cal.predict(shown[50:], temperature=heat[50:]).warnings
    with pytest.raises(ValueError, match="read-only"):
        cal.covariance[0, 0] *= 1e6
    kelvin = cal.predict(shown[50:], temperature=float(heat.mean()) + 273.15)
    assert [w.code for w in kelvin.warnings] == ["far-temperature"]
    with refused("shape", [20.0, 25.0], parameter="temperature"):
        cal.predict(shown[50:], temperature=[20.0, 25.0])
    with pytest.raises(ec.InputError) as caught:
        cal.predict(shown[50:], temperature=np.nan)
    assert (caught.value.code, caught.value.parameter) == ("number", "temperature")
    off = [np.linalg.norm(p - points[50:], axis=1).mean() for p in (warm, cold)]
    assert off[0] < 3e-5 < 1e-4 < off[1]
    other = ec.Campaign(q=shown[50:], position=noisy[50:], temperature=heat[50:], length="m", angle="rad")
    assert cal.validate(other).after.mean == pytest.approx(off[0], abs=2e-5)


def test_a_prior_of_the_user_moves_the_estimate_to_it() -> None:
    rng = np.random.default_rng(3)
    robot = ec.read_robot("fanuc-m710ic50").nominal
    model, wanted = with_words(robot, ("geometry",))
    truth = model.with_parameters({n: 5e-4 * rng.normal() for w in wanted for n in w.names})
    low, high = 0.6 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((25, robot.n))
    points = tool_of(truth, (), q).states(np.zeros(0)).origin + 2e-5 * rng.normal(size=(25, 3))
    shown = robot.controller.to_controller(q)
    common = {"q": shown, "position": points, "length": "m", "angle": "rad"}
    free = ec.calibrate(robot, ec.Campaign(**common), model="geometry")
    tied = ec.calibrate(robot, ec.Campaign(**common, priors={"J2.x": (3e-3, 1e-6)}), model="geometry")
    assert abs(free.parameters["J2.x"].value - 3e-3) > 1e-4
    assert tied.parameters["J2.x"].value == pytest.approx(3e-3, abs=3e-6)
    with refused("unknown-parameter-with-a-prior", "J9.x", nearest="J6.x"):
        ec.calibrate(robot, ec.Campaign(**common, priors={"J9.x": (0.0, 1e-3)}), model="geometry")


def test_a_covariance_of_the_user_ties_parameters_together() -> None:
    """Off together by anything, but alike: as one parameter in place of two."""
    robot = ec.read_robot("fanuc-m710ic50").nominal
    both = ("J2.x", "J3.x")
    prior = priors_of({both: ([1e-3, 1e-3], [[1e-6 + 1e-14, 1e-6], [1e-6, 1e-6 + 1e-14]])})
    _, wanted = with_words(robot, ("geometry",), prior)
    own = wanted[-1]
    assert own.names == both
    np.testing.assert_allclose(np.linalg.inv(own.precision), prior[0].covariance, rtol=1e-6)
    assert own.mean == pytest.approx((1e-3, 1e-3))
    assert not any(n in w.names for n in both for w in wanted[:-1])
    rng = np.random.default_rng(3)
    model, groups = with_words(robot, ("geometry",))
    truth = model.with_parameters({n: 5e-4 * rng.normal() for w in groups for n in w.names})
    low, high = 0.6 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((25, robot.n))
    points = tool_of(truth, (), q).states(np.zeros(0)).origin + 2e-5 * rng.normal(size=(25, 3))
    data = {"q": robot.controller.to_controller(q), "position": points, "length": "m", "angle": "rad"}
    tied = ec.calibrate(robot, ec.Campaign(**data, priors=prior), model="geometry", outliers=False).parameters
    assert tied["J2.x"].value == pytest.approx(tied["J3.x"].value, abs=1e-6)
    assert tied["J2.x"].sd > 100 * 1e-7  # together they are as free as before


def test_relative_errors_are_those_of_logarithms() -> None:
    robot = ec.read_robot("kuka-kr270")
    k = robot.parameters.values[robot.parameters.index("A2.k")]
    (prior,) = priors_of({"A2.k": (1.1 * k, 0.05 * k)})
    own = with_words(robot, ("compliance",), (prior,))[1][-1]
    assert own.log
    assert own.mean == pytest.approx((np.log(1.1),))
    assert own.precision[0, 0] ** -0.5 == pytest.approx(0.05 / 1.1)


@pytest.mark.parametrize(
    ("given", "code", "value"),
    [
        ({"A2.k": (1.0, -1.0)}, "prior", ("A2.k",)),
        ({"A2.k": (np.nan, 1.0)}, "prior", ("A2.k",)),
        ({("a", "b"): ([0, 0], [[1, 2], [2, 1]])}, "prior", ("a", "b")),
        ({("a", "b"): ([0, 0], [[1]])}, "shape", None),
        ({"a": (0, 1), ("a", "b"): ([0, 0], np.eye(2))}, "prior", "a"),
        ({"a": "wide"}, "missing", None),
    ],
)
def test_priors_that_cannot_be(given: dict, code: str, value: object) -> None:
    with refused(code, value):
        priors_of(given)
