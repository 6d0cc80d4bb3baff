"""Meshes of a URDF (STL, OBJ, DAE), read by trimesh and made coarse: for pictures.

Coarse by clustering: corners within one cell of a grid become their mean, and triangles that lose a side are dropped;
the grid is made wider until ``MOST`` triangles are left.  The surface moves by at most a cell.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from elastocal.errors import InputError
from elastocal.files.opened import read_bytes
from elastocal.spatial.entries import Array, Ints

MOST = 600
"""Triangles of one body."""
FINEST = 64
"""Cells along the longest side of a body at first."""
ENDINGS = (".stl", ".obj", ".dae")


def mesh_path(name: str, urdf: Path) -> Path | None:
    """The file that a name in a URDF leads to: beside it, or by its package in the folders above; None: not there."""
    if not name.lower().endswith(ENDINGS):
        return None
    if name.startswith("package://"):
        package, _, rest = name.removeprefix("package://").partition("/")
        for folder in urdf.resolve().parents:
            root = folder if folder.name == package else folder / package
            if (root / rest).is_file():
                return root / rest
        return None
    path = Path(name.removeprefix("file://"))
    path = path if path.is_absolute() else urdf.parent / path
    return path if path.is_file() else None


def read_mesh(path: Path, scale: Array) -> tuple[Array, Ints]:
    """Corners (V, 3) in m and triangles (F, 3), coarse; InputError where it cannot be read."""
    try:
        import trimesh
    except ImportError:
        raise InputError(
            f"{path}: drawing meshes needs trimesh; pip install 'elastocal[formats]'", code="extra-missing"
        ) from None
    data = read_bytes(path)
    try:
        loaded: Any = trimesh.load(io.BytesIO(data), file_type=path.suffix[1:].lower(), force="mesh", process=False)
        corners: Array = np.asarray(loaded.vertices, dtype=np.float64)
        faces: Ints = np.asarray(loaded.faces, dtype=np.int64)
    except Exception as error:
        raise InputError(
            f"{path}: is no readable mesh ({type(error).__name__}); export it again as STL", code="mesh", file=str(path)
        ) from None
    if not len(faces) or not np.isfinite(corners).all():
        raise InputError(f"{path}: has no triangles, or corners that are not finite; export it again", file=str(path))
    return coarse(corners * scale, faces)


def coarse(corners: Array, faces: Ints, most: int = MOST) -> tuple[Array, Ints]:
    """At most so many triangles, by clustering."""
    low, size = corners.min(axis=0), float(np.ptp(corners, axis=0).max()) or 1.0
    cells = FINEST
    while True:
        key = np.floor((corners - low) / (size / cells)).astype(np.int64)
        _, which = np.unique(key, axis=0, return_inverse=True)
        which = which.ravel()
        count = np.bincount(which)
        means = np.stack([np.bincount(which, corners[:, i]) / count for i in range(3)], axis=1)
        new = which[faces]
        kept = new[(new[:, 0] != new[:, 1]) & (new[:, 1] != new[:, 2]) & (new[:, 0] != new[:, 2])]
        kept = kept[np.unique(np.sort(kept, axis=1), axis=0, return_index=True)[1]] if len(kept) else kept
        if len(kept) <= most or cells <= 4:
            return means, kept[:most]
        cells = int(cells * 0.7)
