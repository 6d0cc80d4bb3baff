"""Names of a package that are loaded when they are first used, so that importing it costs nothing.

__getattr__, __dir__ = lazy(__name__, {"plan": "elastocal.design.planning"})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose ``names`` stand in the modules they are given with.

    ``module:`` is the module itself.
    """

    def load(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, whole, _ = names[name].partition(":")
        value: Any = import_module(module)
        value = value if whole else getattr(value, name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted({*names, *(n for n in vars(sys.modules[package]) if n.startswith("__"))})
