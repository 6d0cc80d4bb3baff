"""Classes by their ``kind`` word: those of a folder, where adding one is adding one file, and those of other packages.

Another package says in its pyproject.toml what it has, and the kind works wherever one of this package does:

    [project.entry-points."elastocal.elements"]
    gear_harmonics = "our_effects.gear:GearHarmonics"

The groups are ``elastocal.elements``, ``.sources``, ``.measurements``, ``.criteria``, ``.posts`` and ``.formats``.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
from functools import lru_cache
from types import ModuleType
from typing import Any

from elastocal.errors import DuplicateError, FileError, FormatError
from elastocal.installed import entry_points


def kinds_in(folder: ModuleType | tuple[ModuleType, ...], base: type, group: str | None = None) -> dict[str, Any]:
    """Every class of ``base`` with a ``kind`` of its own, by that word.

    They are looked for in packages and their modules and, with a ``group``, in the entry points of other packages.
    """
    folders = folder if isinstance(folder, tuple) else (folder,)
    places = tuple((place, os.stat(place).st_mtime_ns) for f in folders for place in f.__path__ if os.path.isdir(place))
    kinds = _of_folders(folders, places, base)
    added = {} if group is None else _added(group, base, kinds)
    return dict(sorted((kinds | added).items())) if added else dict(kinds)


def kind_in(folder: ModuleType, base: type, kind: str, group: str | None = None) -> Any:
    """The class of one kind, None where there is none; that in the module of its name without loading the others."""
    own = kind.isidentifier() and importlib.util.find_spec(f"{folder.__name__}.{kind}")
    known = _kinds_of(importlib.import_module(f"{folder.__name__}.{kind}"), base) if own else {}
    return known[kind] if kind in known else kinds_in(folder, base, group=group).get(kind)


@lru_cache(maxsize=64)
def _of_folders(folders: tuple[ModuleType, ...], places: tuple[tuple[str, int], ...], base: type) -> dict[str, Any]:
    """Those of packages and their modules, looked through once for as long as nothing is added to their ``places``."""
    kinds: dict[str, Any] = {}
    for package in folders:
        kinds |= _kinds_of(package, base)
        for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
            kinds |= _kinds_of(importlib.import_module(f"{package.__name__}.{info.name}"), base)
    return dict(sorted(kinds.items()))


def _kinds_of(module: ModuleType, base: type) -> dict[str, Any]:
    things = (t for t in vars(module).values() if isinstance(t, type) and issubclass(t, base) and "kind" in vars(t))
    return {str(vars(thing)["kind"]): thing for thing in things}


def _added(group: str, base: type, known: dict[str, Any]) -> dict[str, Any]:
    """Classes that other packages add; none may take a word that is taken."""
    added: dict[str, Any] = {}
    for place, point, thing in _entry_points(group, tuple(sys.path)):
        if not (isinstance(thing, type) and issubclass(thing, base) and "kind" in vars(thing)):
            message = f"{place}: is no class of {base.__name__} with a kind of its own; correct that package"
            raise FormatError(message, value=point)
        kind = str(vars(thing)["kind"])
        if (taken := known.get(kind) or added.get(kind)) is not None:
            owner = f"{taken.__module__}.{taken.__qualname__}"
            message = f"{place}: its kind {kind!r} is that of {owner} already; rename it in that package"
            raise DuplicateError(message, value=point)
        added[kind] = thing
    return added


@lru_cache(maxsize=64)
def _entry_points(group: str, path: tuple[str, ...]) -> tuple[tuple[str, str, Any], ...]:
    """Place, value and object of every entry point of a group; packages are looked through once for a ``path``."""
    out = []
    points = _installed(path)
    for point in sorted(points.select(group=group) if points else (), key=lambda p: p.name):
        package = point.dist.name if point.dist is not None else "a package"
        place = f"entry point {point.name} of {package} ({group})"
        try:
            out.append((place, point.value, point.load()))
        except Exception as error:
            raise FileError(
                f"{place}: cannot be loaded ({type(error).__name__}: {error}); mend or remove it", value=point.value
            ) from error
    return tuple(out)


@lru_cache(maxsize=4)
def _installed(path: tuple[str, ...]) -> Any:
    """Entry points of all groups, where a package has one of ours."""
    return entry_points(path, "elastocal.")
