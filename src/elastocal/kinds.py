"""Classes of a folder by their ``kind`` word: adding one is adding one file."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def kinds_in(folder: ModuleType, base: type, word: str = "kind") -> dict[str, Any]:
    """Every class of ``base`` in the modules of a package that has a ``kind`` (or another ``word``) of its own."""
    found: dict[str, Any] = {}
    for info in sorted(pkgutil.iter_modules(folder.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{folder.__name__}.{info.name}")
        for thing in vars(module).values():
            if isinstance(thing, type) and issubclass(thing, base) and word in vars(thing):
                found[str(vars(thing)[word])] = thing
    return dict(sorted(found.items()))
