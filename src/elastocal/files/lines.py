"""The line of every key and item of a file, put together when somebody asks for one: most files are read without a
complaint, and then nobody does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

Key = str | int
Path_ = tuple[Key, ...]
Place = tuple["Place | None", Key, int]
"""What a value stands in, its key or number there, and its line; the whole file stands in nothing."""


class Lines(Mapping[Path_, int]):
    """Lines by path, of places as they were met: what holds others before what it holds."""

    def __init__(self, places: list[Place]) -> None:
        self._places = places

    @cached_property
    def _by_path(self) -> dict[Path_, int]:
        paths: dict[int, Path_] = {}
        lines: dict[Path_, int] = {}
        for place in self._places:
            parent, key, line = place
            path = () if parent is None else (*paths[id(parent)], key)
            paths[id(place)] = path
            lines.setdefault(path, line)
        return lines

    def __getitem__(self, path: Path_) -> int:
        return self._by_path[path]

    def __iter__(self) -> Iterator[Path_]:
        return iter(self._by_path)

    def __len__(self) -> int:
        return len(self._by_path)


def path_of(place: Place | None) -> Path_:
    """From the whole file to the place."""
    if place is None or place[0] is None:
        return ()
    return (*path_of(place[0]), place[1])
