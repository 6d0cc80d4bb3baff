"""Plans for arcs: closed forms, brute force, the covariance of what would be fitted, and plans that cannot work."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.procedures.compensator.angle_design import arc_sd, imbalance, plan_angles
from elastocal.procedures.compensator.concentric import fit_concentric
from elastocal.procedures.compensator.geometry import CompensatorGeometry, compensator_geometry
from elastocal.procedures.compensator.known_angles import fit_known_angles
from elastocal.procedures.compensator.marker_design import (
    MODELS,
    expected_geometry,
    expected_pivot,
    plan_geometry,
    plan_markers,
)
from elastocal.procedures.compensator.rigid_body import fit_common_rotation

KR270 = tuple(np.radians([-145.0, 0.0]))
GAP = np.radians(10)
SWING = np.radians([-4.5, 3.0, 8.0, 15.0, 19.6, 24.7])


def arc(angles, radius=0.19):
    return radius * np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])


def test_expected_accuracy_is_that_of_the_fit():
    angles, noise = np.radians([-140.0, -139.0, -80.0, -20.0, 5.0]), 3e-5
    expected = arc_sd(angles, noise)
    fitted = fit_known_angles(arc(angles), angles, noise=noise)
    assert expected == pytest.approx(fitted.radius_sd, rel=1e-9)
    assert expected / 0.19 == pytest.approx(fitted.turn_sd, rel=1e-9)
    np.testing.assert_allclose(np.sqrt(np.diag(fitted.centre_covariance))[:2], expected, rtol=1e-9)
    assert fitted.paper_radius_sd < 0.9 * expected


@pytest.mark.parametrize(("count", "degrees"), [(3, (-145, 0)), (4, (-145, 0)), (5, (-30, 30)), (4, (-200, 0))])
def test_no_plan_on_a_grid_is_better(count, degrees):
    """All multisets of 26 angles, among those with three angles a gap apart; by (35) and by the fit's own radius."""
    found = plan_angles(count, tuple(np.radians(degrees)))
    fitted = fit_known_angles(1e4 * arc(found, 1.0), found, noise=1.0)
    assert arc_sd(found, 1.0) == pytest.approx(fitted.radius_sd, rel=1e-6)
    grid = np.radians(np.linspace(*degrees, 26))
    plans = grid[np.array(list(itertools.combinations_with_replacement(range(26), count)))]
    inner = (plans >= plans[:, :1] + GAP) & (plans <= plans[:, -1:] - GAP)
    plans = plans[inner.any(axis=1)]
    values = np.abs(np.exp(1j * plans).sum(axis=1)) ** 2
    assert imbalance(found) <= values.min() + 1e-9
    assert imbalance(found) > 0.9 * values.min() - 1e-3  # a grid of 26 is not that far off
    assert fitted.radius_sd**2 <= (1 / (count - values / count)).min() + 1e-9
    assert degrees[0] - 1e-9 <= np.degrees(found).min()
    assert np.degrees(found).max() <= degrees[1] + 1e-9


def test_below_half_a_turn_the_ends_and_a_third_angle():
    """For even m the value of the ends alone, (m cos(w/2))^2, is the bound that the third angle keeps away from."""
    found = plan_angles(6, KR270)
    np.testing.assert_allclose(np.degrees(found), [-145, -145, -145, -10, 0, 0], atol=1e-6)
    bound = (6 * np.cos(np.radians(72.5))) ** 2
    assert bound < imbalance(found) < 1.3 * bound
    near = plan_angles(6, KR270, gap=0.01)
    assert bound < imbalance(near) < 1.02 * bound
    other = [fit_known_angles(arc(q)[:, :2], q, noise=1e-5).other_sd for q in (near, found)]
    assert other[0] < 0.1 * other[1]


def test_the_plan_is_better_than_the_published_one():
    """-0.01 .. -145 deg in six steps: the exact sd of L falls by 20 %."""
    published = np.radians([-0.01, -30, -60, -90, -120, -145])
    was, now = arc_sd(published, 5.626e-5), arc_sd(plan_angles(6, KR270), 5.626e-5)
    assert was == pytest.approx(3.05e-5, rel=1e-3)
    assert now / was == pytest.approx(np.sqrt((1 / (6 - 3.86677 / 6)) / 0.2938306), rel=1e-4)


@pytest.mark.parametrize(("count", "degrees"), [(3, 240), (4, 200), (5, 240), (6, 190), (7, 250), (8, 360), (3, 360)])
def test_zero_is_reached_where_the_range_allows(count, degrees):
    found = plan_angles(count, (0.3, 0.3 + np.radians(degrees)))
    assert imbalance(found) < 1e-9
    assert arc_sd(found, 1.0) == pytest.approx(1 / np.sqrt(count), rel=1e-9)


def test_the_end_of_a_full_turn_is_its_beginning():
    turns = np.unique(np.round(np.degrees(plan_angles(3, (0.3, 0.3 + 2 * np.pi))) % 360, 6))
    np.testing.assert_allclose(np.diff(turns), 120, atol=1e-6)


def test_plans_are_the_same_every_time():
    one, two = (plan_angles(7, (-2.0, 0.6)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("model", MODELS)
def test_expected_pivot_is_that_of_the_fit(model):
    """Different radii, three markers; the closed form against the least-squares problem."""
    places, radii, noise = np.array([0.4, 1.5, 3.9]), np.array([0.2, 0.31, 0.12]), 1e-5
    turned = places[:, None] + SWING
    points = radii[:, None, None] * np.stack([np.cos(turned), np.sin(turned)], axis=2)
    if model == "concentric":
        fitted = fit_concentric(list(points), noise=noise, method="geometric")
    else:
        fitted = fit_common_rotation(list(points), noise=noise)
    np.testing.assert_allclose(
        expected_pivot(places, radii, SWING, noise, model), fitted.centre_covariance, rtol=1e-6, atol=1e-14
    )


def spread(places, model):
    return np.trace(expected_pivot(np.radians(places), 1.0, SWING, 1.0, model))


def test_opposite_markers_help_the_body_and_not_the_distances():
    """(36) wants them opposite.  For distances that is as bad as one place; a quarter turn apart is best."""
    assert spread([170, 350], "concentric") == pytest.approx(spread([170, 170], "concentric"), rel=1e-9)
    assert spread([170, 260], "concentric") < 0.03 * spread([170, 350], "concentric")
    assert spread([170, 350], "common rotation") < 0.7 * spread([170, 260], "common rotation")
    opposite, value = plan_markers(2, SWING, criterion="balance")
    np.testing.assert_allclose(np.ptp(opposite), np.pi, atol=1e-6)
    assert value < 1e-12
    np.testing.assert_allclose(np.ptp(plan_markers(2, SWING)[0]), np.pi, atol=1e-4)
    distances, _ = plan_markers(2, SWING, criterion="concentric")
    assert np.ptp(distances) % np.pi == pytest.approx(np.pi / 2, abs=1e-4)


@pytest.mark.parametrize("criterion", ["balance", *MODELS])
@pytest.mark.parametrize("count", [2, 3])
def test_no_places_on_a_grid_are_better(count, criterion):
    _, value = plan_markers(count, SWING, criterion=criterion)
    best = np.inf
    for plan in itertools.combinations_with_replacement(np.linspace(-180, 180, 19), count):
        try:
            now = abs(np.sum(np.exp(1j * np.radians(plan)))) ** 2 if criterion == "balance" else spread(plan, criterion)
        except InputError:
            continue
        best = min(best, now)
    assert 0.8 * best - 1e-9 < value <= best * (1 + 1e-9) + 1e-9


def test_unequal_radii_put_the_centre_into_the_middle():
    """sum R exp(i beta) = 0: with radii 3, 4, 5 at the angles of a right triangle."""
    places, _ = plan_markers(3, SWING, [0.3, 0.4, 0.5])
    assert abs(np.sum(np.array([0.3, 0.4, 0.5]) * np.exp(1j * places))) < 2e-3
    assert imbalance(places) > 0.05
    for radii in itertools.permutations([0.1, 0.3, 0.5]):
        places, value = plan_markers(3, SWING, radii)
        spread = np.trace(expected_pivot(places, radii, SWING, 1.0, "common rotation"))
        assert value == pytest.approx(spread, rel=1e-9)  # places stay with their radii


def test_accuracy_of_the_compensator_before_measuring(table_1):
    """With the places and angles of Table 1 and the noise its fits show, the published accuracy comes out."""
    arc1 = fit_known_angles(table_1.p1, table_1.q)
    pivot = fit_concentric([table_1.p01, table_1.p02], method="geometric")
    geometry = compensator_geometry(arc1, pivot)
    body = fit_common_rotation([table_1.p01, table_1.p02])
    aim = np.arctan2(*(table_1.p1 - pivot.centre).T[::-1])
    seen = [np.arctan2(*(m - pivot.centre).T[::-1]) for m in (table_1.p01, table_1.p02)]
    places = [np.angle(np.mean(np.exp(1j * (s - aim)))) for s in seen]
    wide = expected_geometry(geometry, table_1.q, places, pivot.radii, pivot.residual_sd)
    assert wide.a_x == pytest.approx(geometry.sd["a_x"], rel=0.02)
    assert wide.a_y == pytest.approx(geometry.sd["a_y"], rel=0.06)
    close = expected_geometry(geometry, table_1.q, places, body.radii, body.residual_sd, "common rotation")
    assert close.a_x == pytest.approx(0.59e-3, rel=0.02)
    assert close.L / body.residual_sd == pytest.approx(arc1.radius_sd / arc1.residual_sd, rel=1e-3)
    better = expected_geometry(geometry, table_1.q, [0.0, np.pi], 0.187, body.residual_sd, "common rotation")
    assert better.a_x < 0.5 * close.a_x


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plan_angles(2, KR270), ("unobservable", 2)),
        (lambda: plan_angles(4, (0.0, 0.2)), ("too-few",)),
        (lambda: plan_angles(4, (1.0, 0.0)), ("too-few",)),
        (lambda: plan_angles(4, KR270, gap=0.0), ("range", (0.001, 0.0))),
        (lambda: arc_sd([0, 1, 0, 1], 1e-5), ("unobservable",)),
        (lambda: arc_sd([0, 1, np.nan], 1e-5), ("plan-angles",)),
        (lambda: arc_sd([0, 1, 2], 0.0), ("plan-sizes",)),
        (lambda: expected_pivot([0.1, 0.2], 0.2, [0.0, 0.0], 1e-5), ("no-centre",)),
        (lambda: expected_pivot([0.1, 0.2], -0.2, SWING, 1e-5), ("range", 2)),
        (lambda: expected_pivot([0.1, 0.2], 0.2, SWING, 0.0), ("places",)),
        (lambda: plan_markers(2, SWING, [0.1, 0.2, 0.3]), ("range", 2)),
        (lambda: expected_pivot([0.1], 0.2, SWING, 1e-5, "rigid"), ("unknown-model-of-the-markers", "rigid")),
        (lambda: plan_markers(2, [0.0, 0.0]), ("no-centre",)),
        (lambda: plan_markers(2, SWING, criterion="sum"), ("unknown-criterion-for-places", "sum")),
        (lambda: plan_markers(0, SWING), ("plan-limits",)),
    ],
)
def test_plans_that_cannot_work_are_refused(call, words):
    with refused(*words):
        call()


@pytest.mark.parametrize("model", ["concentric", "common rotation"])
def test_angles_and_places_together_are_best_by_brute_force(model):
    """All plans of three angles on a grid, each with its best places; a wide range, where (35) has many solutions."""
    length, a, phi0 = 0.18472, 0.6964, np.radians(90.07)
    nothing = np.zeros(0)
    mechanism = CompensatorGeometry(
        length, a * np.cos(0.17), a * np.sin(0.17), phi0, np.eye(4), -1, nothing, nothing, phi0, 0.0, 0.0
    )
    limits, radii = tuple(np.radians([-200.0, 60.0])), np.array([0.2, 0.2])
    found = plan_geometry(3, limits, mechanism, radii, model)

    def spread(q):
        places, _ = plan_markers(2, mechanism.swing(q), radii, model)
        e = expected_geometry(mechanism, q, places, radii, 1.0, model)
        return e.L**2 + e.a_x**2 + e.a_y**2

    grid = np.radians(np.linspace(-200, 60, 9))
    plans = [np.array(q) for q in itertools.combinations(grid, 3)]
    best = min(spread(q) for q in plans)
    assert found.value <= best
    assert found.value > 0.9 * best
    e = expected_geometry(mechanism, found.angles, found.places, radii, 1.0, model)
    assert found.value == pytest.approx(e.L**2 + e.a_x**2 + e.a_y**2, rel=1e-9)
    alone = plan_angles(3, limits)
    assert found.value < 0.9 * spread(alone)
