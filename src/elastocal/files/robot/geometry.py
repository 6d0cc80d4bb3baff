"""What a URDF says of the form of its links: bodies for pictures, and shapes (capsules) for collisions.

A body that cannot be read is not drawn; it does not stop a calibration.  A collision shape that cannot be read is
named, since a plan then knows less than the file says.  Meshes (STL, OBJ, DAE) are read by trimesh and made coarse for
pictures by clustering: corners within one cell of a grid become their mean, and triangles that lose a side are dropped;
the grid is made wider until ``MOST`` triangles are left.  The surface moves by at most a cell.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elastocal.errors import ExtraMissingError, FileError, FormatError, InputError, MissingError
from elastocal.files.opened import read_bytes
from elastocal.files.robot.links import in_short
from elastocal.files.robot.urdf_tags import Tag
from elastocal.model.frames import Body, Shape
from elastocal.spatial.capsules import Capsule, box_triangles, covering, cylinder_triangles
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose

Primitive = Literal["box", "cylinder", "sphere"]
PRIMITIVES: dict[Primitive, tuple[tuple[str, int], ...]] = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
}
"""Attributes, and how many numbers each has."""
ROUND = 1e-4
"""Ends of capsules are rounded to so many m, and the radius is enlarged by twice as much."""
MOST = 600
"""Triangles of one body."""
FINEST = 64
"""Cells along the longest side of a body at first."""
ENDINGS = (".stl", ".obj", ".dae")


def link_bodies(tags: Mapping[str, Tag]) -> Iterator[Body]:
    """Boxes, cylinders, spheres and meshes that links are drawn with; where none are, those of their collisions."""
    for link, owner in tags.items():
        for word in ("visual", "collision"):
            bodies = [b for xml in owner.xml.findall(word) if (b := _body(link, Tag(owner.file, xml))) is not None]
            if bodies:
                yield from bodies
                break


def link_shapes(tags: Mapping[str, Tag]) -> tuple[tuple[Shape, ...], tuple[str, ...]]:
    """Capsules round the collision shapes of links; and sentences on links of which one cannot be read."""
    shapes: list[Shape] = []
    unread: dict[str, str] = {}
    for link, owner in tags.items():
        try:
            shapes += [s for xml in owner.xml.findall("collision") for s in _shapes(link, Tag(owner.file, xml))]
        except InputError as error:
            unread[link] = str(error).removeprefix(f"{owner.file}: ")
            shapes = [s for s in shapes if s.frame != link]
    if not unread:
        return tuple(shapes), ()
    first, why = next(iter(unread.items()))
    many = f"links {in_short(tuple(unread))}" if len(unread) > 1 else f"link {first}"
    note = f"collision shapes of {many} cannot be read ({why}): plans judge them by capsules from joint to joint"
    return tuple(shapes), (note,)


def _body(link: str, tag: Tag) -> Body | None:
    try:
        given = _primitive(tag)
        if given is not None:
            return Body(link, tag.origin(), *given)
        mesh = _mesh(tag)
        return None if mesh is None else Body(link, tag.origin(), "mesh", (), *coarse(*mesh))
    except InputError:
        return None


def _shapes(link: str, tag: Tag) -> Iterator[Shape]:
    given, pose = _primitive(tag), tag.origin()
    if given is not None:
        capsules = _cover(*given)
    else:
        mesh = _mesh(tag)
        if mesh is None:
            raise MissingError("it has no box, cylinder, sphere or mesh")
        capsules = covering(mesh[0][mesh[1]])
    for c in capsules:
        yield Shape(
            frame=link, start=_placed(pose, c.start), end=_placed(pose, c.end), radius=round(c.radius + 2 * ROUND, 6)
        )


@lru_cache(maxsize=256)
def _cover(kind: Primitive, sizes: tuple[float, ...]) -> tuple[Capsule, ...]:
    if kind == "sphere":
        return (Capsule((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), sizes[0]),)
    return covering(box_triangles(np.array(sizes)) if kind == "box" else cylinder_triangles(sizes[0], sizes[1]))


def _placed(pose: Pose, point: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = np.round((pose.rotation @ np.array(point) + pose.translation) / ROUND) + 0.0
    return round(float(x) * ROUND, 6), round(float(y) * ROUND, 6), round(float(z) * ROUND, 6)


def _primitive(tag: Tag) -> tuple[Primitive, tuple[float, ...]] | None:
    for kind, attributes in PRIMITIVES.items():
        xml = tag.xml.find(f"geometry/{kind}")
        if xml is None:
            continue
        shape = Tag(tag.file, xml)
        sizes = tuple(v for name, count in attributes for v in shape.numbers(name, count))
        if not all(v > 0 for v in sizes):
            raise shape.error("a size is not positive; correct it")
        return kind, sizes
    return None


def _mesh(tag: Tag) -> tuple[Array, Ints] | None:
    """Corners and triangles of the mesh; None where there is none."""
    xml = tag.xml.find("geometry/mesh")
    if xml is None:
        return None
    shape = Tag(tag.file, xml)
    name = shape.text("filename")
    path = mesh_path(name, Path(tag.file))
    if path is None:
        raise FileError(f"mesh {name!r} is not there, or no STL, OBJ or DAE")
    return read_mesh(path, np.array(shape.numbers("scale", 3, (1.0, 1.0, 1.0))))


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
    """Corners (V, 3) in m and triangles (F, 3); InputError where it cannot be read."""
    try:
        import trimesh
    except ImportError:
        raise ExtraMissingError.needed(f"{path}: meshes need trimesh", "formats") from None
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
        raise FormatError(
            f"{path}: has no triangles, or corners that are not finite; export it again",
            file=str(path),
            code="no-triangles",
        )
    return corners * scale, faces


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
