"""Laws of every object: the normal is the gradient, the Hessian its derivative, nothing depends on the axes chosen."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from elastocal.model.surfaces.cylinder import Cylinder
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.plane import Plane
from elastocal.model.surfaces.sphere import Sphere
from elastocal.model.surfaces.surface import Touches, surface_kinds

AXIS = (0.3, -0.5, 0.9)
EXAMPLES = {
    "sphere": Sphere(name="ball", centre=(0.2, -0.1, 0.4), radius=0.3),
    "cylinder": Cylinder(
        name="bar", point=(0.2, -0.1, 0.4), axis=AXIS, radius=0.25, shift=(0.01, -0.02), tilt=(0.1, -0.2)
    ),
    "disc": Disc(name="disc", centre=(0.2, -0.1), radius=0.3),
    "plane": Plane(name="table", point=(0.2, -0.1, 0.4), normal=AXIS, height=0.03, tilt=(0.1, -0.2)),
}
POINTS = np.random.default_rng(0).uniform(-1, 1, (20, 3))
every = pytest.mark.parametrize("kind", EXAMPLES)


def differences(function, values, step=1e-6):
    """d function / d values by central differences, last axis of the result."""
    columns = []
    for i in range(len(values)):
        move = step * np.eye(len(values))[i]
        columns.append((function(values + move) - function(values - move)) / (2 * step))
    return np.stack(columns, axis=-1)


def test_every_kind_has_an_example():
    assert set(EXAMPLES) == set(surface_kinds())


@every
def test_the_normal_is_the_gradient_and_the_hessian_its_derivative(kind):
    surface = EXAMPLES[kind]
    for point in POINTS:
        near = surface.at(point)
        np.testing.assert_allclose(
            near.normal[:, 0], differences(lambda x: surface.at(x).distance[0], point), atol=1e-8
        )
        np.testing.assert_allclose(
            near.hessian[:, :, 0], differences(lambda x: surface.at(x).normal[:, 0], point), atol=1e-6
        )
        assert np.linalg.norm(near.normal[:, 0]) == pytest.approx(1, abs=1e-14)


@every
def test_the_distance_is_that_to_the_nearest_point_and_positive_outside(kind):
    surface = EXAMPLES[kind]
    for point in POINTS[:6]:
        found = minimize(
            lambda y, p=point: np.sum((y - p) ** 2),
            point + 0.01,
            constraints={"type": "eq", "fun": lambda y: surface.at(y).distance[0]},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        assert abs(surface.at(point).distance[0]) == pytest.approx(np.sqrt(found.fun), rel=1e-5)
    far = np.array(surface.shape()[:3]) + 5 * surface.at(POINTS[0]).normal[:, 0]
    assert surface.at(far).distance[0] > 0


@every
def test_parameters_move_distance_and_normal_as_stated(kind):
    surface = EXAMPLES[kind]
    touches = Touches.one("tip", surface, len(POINTS))
    by_distance, by_normal = touches.by_parameters(POINTS.T)
    values = np.array([p.value for p in surface.parameters()])

    def near(v):
        return surface.with_values(list(v)).at(POINTS)

    np.testing.assert_allclose(by_distance.T, differences(lambda v: near(v).distance, values), atol=1e-8)
    np.testing.assert_allclose(np.moveaxis(by_normal, 1, -1), differences(lambda v: near(v).normal, values), atol=1e-7)
    assert np.all(np.abs(by_distance).max(axis=1) > 0.05)  # every parameter matters
    changed = surface.with_values(list(values + 0.01))
    np.testing.assert_allclose([p.value for p in changed.parameters()], values + 0.01, rtol=1e-15)
    assert len({p.name for p in surface.parameters()}) == len(values)


TURN = Rotation.from_rotvec([0.4, -1.1, 0.7])
SHIFT = np.array([0.3, 0.2, -0.5])


@pytest.mark.parametrize("kind", ["sphere", "cylinder", "plane"])
def test_the_same_answer_in_other_axes(kind):
    """The whole scene turned and shifted: distances stay, normals and curvatures turn along."""
    surface = EXAMPLES[kind]
    shape = surface.shape()
    moved = shape.copy()
    moved[:3] = TURN.apply(shape[:3]) + SHIFT
    if kind != "sphere":
        moved[3:6] = TURN.apply(shape[3:6])
    there = surface.near(np.repeat(moved[:, None], len(POINTS), axis=1), (TURN.apply(POINTS) + SHIFT).T)
    here, matrix = surface.at(POINTS), TURN.as_matrix()
    np.testing.assert_allclose(there.distance, here.distance, atol=1e-14)
    np.testing.assert_allclose(there.normal, matrix @ here.normal, atol=1e-13)
    np.testing.assert_allclose(there.hessian, np.einsum("ij,jkn,lk->iln", matrix, here.hessian, matrix), atol=1e-12)


def test_a_disc_is_a_cylinder_along_z():
    bar = Cylinder(point=(0.2, -0.1, 7.0), axis=(0, 0, 2.0), radius=0.3)
    for mine, other in zip(EXAMPLES["disc"].at(POINTS), bar.at(POINTS), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-15)


def test_a_tilted_plane_leans_by_its_slopes():
    plane = Plane(point=(0, 0, 0.5), normal=(0, 0, 1), tilt=(0.02, 0.0))
    normal = plane.at([[0.0, 0.0, 0.0]]).normal[:, 0]
    assert np.hypot(normal[0], normal[1]) / normal[2] == pytest.approx(0.02, rel=1e-12)


def test_mixed_objects_answer_as_each_alone():
    surfaces = tuple(EXAMPLES.values())
    which = np.arange(len(POINTS)) % len(surfaces)
    touches = Touches("tip", surfaces, which)
    near = touches.near(POINTS.T)
    by_distance, _ = touches.by_parameters(POINTS.T)
    names = [p.name for p in touches.parameters]
    for i, point in enumerate(POINTS):
        own = surfaces[which[i]]
        alone = own.at(point)
        assert near.distance[i] == alone.distance[0]
        np.testing.assert_array_equal(near.normal[:, i], alone.normal[:, 0])
        np.testing.assert_array_equal(near.hessian[:, :, i], alone.hessian[:, :, 0])
        foreign = [j for j, n in enumerate(names) if not n.startswith(own.name + ".")]
        assert np.all(by_distance[foreign, i] == 0)
    taken = touches.rows(np.array([3, 7])).near(POINTS[[3, 7]].T)
    np.testing.assert_array_equal(taken.distance, near.distance[[3, 7]])


def test_other_values_go_to_the_right_object():
    touches = Touches("tip", (EXAMPLES["sphere"], EXAMPLES["plane"]), [0, 1])
    values = [p.value for p in touches.parameters]
    values[3], values[4] = 0.4, 0.07
    ball, table = touches.with_values(values).surfaces
    assert (ball.radius, table.height) == (0.4, 0.07)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Sphere(name="ball", centre=(0, 0, 0), radius=-0.1), ("range", -0.1)),
        (lambda: Disc(centre=(0, 0), radius=0.0), ("range", 0.0)),
        (lambda: Cylinder(name="bar", point=(0, 0, 0), axis=(0, 0, 0), radius=0.1), ("no-direction",)),
        (lambda: Plane(name="table", point=(0, 0, 0), normal=(0, 0, 0)), ("no-direction",)),
        (lambda: Sphere(centre=(0, np.nan, 0), radius=0.1), ("not-finite",)),
        (lambda: Cylinder(point=(0, 0, 0), axis=(0, 0, 1), radius=-2), ("range", -2)),
        (lambda: Touches("tip", (EXAMPLES["disc"],), [0, 1]), ("range", (2, 2, 1))),
        (lambda: Touches("tip", (EXAMPLES["disc"],) * 2, [0, 1]), ("duplicate", "disc.radius")),
    ],
)
def test_objects_that_cannot_be(make, said):
    with refused(*said):
        make()
