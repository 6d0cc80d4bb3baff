"""A box made of triangles is as far away as the box itself."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.design.obstacles.box import Box
from elastocal.design.obstacles.mesh import Mesh
from elastocal.design.obstacles.obstacle import obstacle_kinds
from elastocal.files.stl import read_stl

SIZE = (1.0, 0.8, 0.2)


def box_triangles() -> np.ndarray:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array(SIZE) / 2
    quads = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    return np.array([corners[list(t)] for q in quads for t in ((q[0], q[1], q[2]), (q[0], q[2], q[3]))])


def test_every_shape_is_known() -> None:
    assert set(obstacle_kinds()) == {"box", "capsule", "mesh", "sphere"}


def test_a_mesh_against_the_box() -> None:
    pytest.importorskip("coal", reason="the extra 'mesh' is not installed")
    mesh = Mesh(triangles=tuple(map(tuple, (tuple(map(tuple, t)) for t in box_triangles().tolist()))))
    a, b = np.random.default_rng(1).normal(size=(2, 150, 3))
    found = mesh.distance(a, b)
    want = Box(centre=(0, 0, 0), size=SIZE).distance(a, b)
    apart = want > 0
    assert 20 < np.sum(apart) < 149
    np.testing.assert_allclose(found[apart], want[apart], atol=1e-9)
    assert np.all(found[~apart] <= 1e-5)


@pytest.mark.parametrize("binary", [True, False])
def test_stl_files_are_read_in_millimetres(tmp_path, binary) -> None:
    from elastocal.errors import InputError

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
    with pytest.raises(InputError, match="no STL file"):
        read_stl(file)
