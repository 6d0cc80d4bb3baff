"""A box made of triangles is as far away as the box itself."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.design.obstacles import BoxObstacle, Mesh, obstacle_kinds
from elastocal.files.plan.task import read_stl

SIZE = (1.0, 0.8, 0.2)


def box_triangles() -> np.ndarray:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array(SIZE) / 2
    quads = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    return np.array([corners[list(t)] for q in quads for t in ((q[0], q[1], q[2]), (q[0], q[2], q[3]))])


def outward() -> np.ndarray:
    """The same triangles, each turned so that its normal looks away from the middle."""
    triangles = box_triangles()
    a, b, c = triangles.swapaxes(0, 1)
    looks_in = np.sum(np.cross(b - a, c - a) * triangles.mean(axis=1), axis=1) < 0
    return np.where(looks_in[:, None, None], triangles[:, ::-1], triangles)


def mesh_of(triangles: np.ndarray) -> Mesh:
    return Mesh(triangles=tuple(tuple(map(tuple, t)) for t in triangles.tolist()))


def test_a_link_inside_a_closed_mesh_is_no_free_link() -> None:
    pytest.importorskip("coal", reason="the extra 'mesh' is not installed")
    low, high = -np.array(SIZE) / 2 + 0.02, np.array(SIZE) / 2 - 0.02
    a, b = np.random.default_rng(2).uniform(low, high, size=(2, 40, 3))
    outside = np.array([[0.0, 0.0, 0.15], [0.49, 0.39, 0.3]])
    for triangles in (outward(), outward()[:, ::-1]):  # all look out, or all look in
        found = mesh_of(triangles).distance(a, b)
        wall = np.minimum(np.min(high + 0.02 - np.abs(a), axis=1), np.min(high + 0.02 - np.abs(b), axis=1))
        np.testing.assert_allclose(found, -wall, atol=1e-5)  # the nearer end decides
        assert np.all(mesh_of(triangles).distance(outside, outside + 0.01) > 0)
    lidless = mesh_of(outward()[2:])  # without its left side nothing is enclosed for sure, but the rest still stands
    assert np.all(lidless.distance(a, a + 1e-3)[np.abs(a[:, 0]) < 0.3] < 0)


def test_every_shape_is_known() -> None:
    assert set(obstacle_kinds()) == {"box", "capsule", "floor", "mesh", "sphere"}


def test_a_mesh_against_the_box() -> None:
    pytest.importorskip("coal", reason="the extra 'mesh' is not installed")
    mesh = mesh_of(box_triangles())
    a, b = np.random.default_rng(1).normal(size=(2, 150, 3))
    found = mesh.distance(a, b)
    want = BoxObstacle(centre=(0, 0, 0), size=SIZE).distance(a, b)
    apart = want > 0
    assert 20 < np.sum(apart) < 149
    np.testing.assert_allclose(found[apart], want[apart], atol=1e-9)
    assert np.all(found[~apart] <= 1e-5)


@pytest.mark.parametrize("binary", [True, False])
def test_stl_files_are_read_in_millimetres(tmp_path, binary) -> None:

    triangles = box_triangles()
    file = tmp_path / "box.stl"
    if binary:
        record = np.zeros(len(triangles), dtype=[("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")])
        record["v"] = 1e3 * triangles
        file.write_bytes(b"made by hand".ljust(80) + len(triangles).to_bytes(4, "little") + record.tobytes())
    else:
        loops = ("".join(f"vertex {x} {y} {z}\n" for x, y, z in 1e3 * t) for t in triangles)
        file.write_text("solid box\n" + "".join(f"facet\nouter loop\n{v}endloop\nendfacet\n" for v in loops))
    np.testing.assert_allclose(read_stl(file), triangles, atol=1e-9)
    file.write_bytes(file.read_bytes()[:200])
    with refused("not-stl"):
        read_stl(file)
