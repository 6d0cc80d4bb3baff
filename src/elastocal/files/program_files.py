"""The files of one robot program: what belongs to it is found beside it, and corrected files go elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from elastocal.compensate.posts.post import Post, post_for, post_kinds
from elastocal.errors import InputError
from elastocal.files.opened import read_bytes

SHARED = ("$config.dat",)
"""Files of a controller that hold the frames of all its programs."""


def read_program_files(path: Path) -> tuple[Post, dict[Path, bytes]]:
    """The language and the bytes of every file: the program, its companions of the same name, shared data."""
    post = post_for(path.name)
    files = {path: read_bytes(path)}
    if post.companions:
        stem, endings = path.stem.lower(), (*post.suffixes, *post.companions)
        near = sorted(p for p in path.parent.iterdir() if p.is_file() and not p.samefile(path))
        for other in near:
            belongs = other.stem.lower() == stem and other.suffix.lower() in endings
            if belongs or other.name.lower() in SHARED:
                files[other] = read_bytes(other)
    return post, files


def programs_in(folder: Path) -> tuple[Path, ...]:
    """Programs of any known language, by name; what belongs to them is not among them."""
    endings = {ending for post in post_kinds().values() for ending in post.suffixes}
    return tuple(sorted(p for p in folder.iterdir() if p.is_file() and p.suffix.lower() in endings))


def corrected_places(out: Path, sources: Iterable[Path], changed: Mapping[str, bool]) -> dict[str, Path]:
    """Where the files of the corrected program go, by name: one file, or a folder for several.

    Shared data is written only where it changes.
    """
    files = [p for p in sources if p.name.lower() not in SHARED or changed[p.name]]
    folder = out.is_dir() or not out.suffix
    if not folder and len(files) > 1:
        raise InputError(
            f"{out}: the program has {len(files)} files ({', '.join(p.name for p in files)}); name a folder",
            file=str(out),
            parameter="out",
        )
    places = {p.name: (out / p.name if folder else out) for p in files}
    for source in files:
        target = places[source.name]
        if target.exists() and target.samefile(source):
            raise InputError(
                f"{out}: would write over {source}; name another folder or file",
                code="would-replace",
                file=str(source),
                parameter="out",
            )
    return places
