"""The files of a plan never replace what it was read from."""

from __future__ import annotations

from pathlib import Path

from elastocal.errors import InputError


def check_plan_targets(out: Path, name: str, files: tuple[Path, ...]) -> None:
    """Before anything is computed; ``files`` are all that were read, the plan's own first."""
    from elastocal.files.plan.krl import krl_name
    from elastocal.files.write import check_targets

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: is a file; name a folder")
    if out.is_dir():
        program = krl_name(name)
        names = ("plan.csv", "campaign.yaml", "report.html", *(f"{program}.{end}" for end in ("src", "dat", "mod")))
        inputs = {f"PLAN.yaml as {p.name}" if i else "PLAN.yaml": p for i, p in enumerate(files)}
        check_targets({f"--out ({name})": out / name for name in names}, inputs)
