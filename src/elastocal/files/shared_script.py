"""The script that the reports of a folder share: one copy, written where it is missing or was cut short."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from elastocal.files.write import write_files


def write_script(path: Path, text: Callable[[], str]) -> None:
    """Nothing where it lies there already; ``text`` is asked for only when it does not."""
    if not path.is_file() or path.stat().st_size == 0:
        write_files({path: text()})
