"""The files of a plan never replace what it was read from, nor readings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from elastocal.errors import InputError


def check_plan_targets(out: Path, name: str, files: tuple[Path, ...]) -> None:
    """Before anything is computed; ``files`` are all that were read, the plan's own first."""
    from elastocal.compensate.posts.post import program_name
    from elastocal.files.write import check_targets

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: is a file; name a folder")
    if out.is_dir():
        program = program_name(name)
        names = ("plan.csv", "campaign.yaml", "report.html", *(f"{program}.{end}" for end in ("src", "dat", "mod")))
        inputs = {f"PLAN.yaml as {p.name}" if i else "PLAN.yaml": p for i, p in enumerate(files)}
        check_targets({f"--out ({name})": out / name for name in names}, inputs)


def check_unfilled(files: Mapping[Path, str]) -> None:
    """Before they are written: no table stands there that somebody has filled in."""
    from elastocal.files.plan.filled import check_cells_empty

    for path, text in files.items():
        if path.suffix == ".csv":
            check_cells_empty(path, text)
