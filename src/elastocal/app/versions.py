"""What a result was made with."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

from elastocal import __version__

FORMAT = "elastocal-result/1"


@cache
def versions() -> dict[str, str]:
    return {
        "elastocal": __version__,
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "scipy")},
    }
