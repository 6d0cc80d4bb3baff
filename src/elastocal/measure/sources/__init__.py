"""What is wrong with readings: sources of error, found by walking this folder.

    noise = [sources.Tracker(), sources.Repeatability(sd=2e-5)]

Every class that is found is a name of this package, those of other packages too.
"""

from __future__ import annotations

from typing import Any


def _classes() -> dict[str, Any]:
    from elastocal.measure.sources.source import source_kinds

    return {kind.__name__: kind for kind in source_kinds().values()}


def __getattr__(name: str) -> Any:
    if not name[:1].isupper() or name not in (classes := _classes()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return classes[name]


def __dir__() -> list[str]:
    return sorted(_classes())
