"""Virtual readings that know themselves: their campaign file bears the marks of itself and of its table.

    # Virtual readings: simulated, not measured.
    # sha256 of what follows: 3f...
    # sha256 of readings.csv: 9a...

What is not byte for byte what was written is somebody's own: measured, until proven otherwise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from elastocal.files.opened import sha256_of

VIRTUAL = "Virtual readings: simulated, not measured."
CAMPAIGN, TABLE = "campaign.yaml", "readings.csv"
_OWN, _TABLE = "# sha256 of what follows: ", f"# sha256 of {TABLE}: "


def virtual_files(folder: Path, campaign: str, table: str) -> dict[Path, str]:
    """The two files of a virtual campaign, with their marks."""
    head = f"# {VIRTUAL}\n{_OWN}{_mark(campaign)}\n{_TABLE}{_mark(table)}\n"
    return {folder / CAMPAIGN: head + campaign, folder / TABLE: table}


def own_files(folder: Path) -> Mapping[str, str]:
    """Files of a campaign in a folder that are not what was simulated, and what is known of each."""
    there = [name for name in (CAMPAIGN, TABLE) if (folder / name).exists()]
    head = _head(folder / CAMPAIGN)
    if head is None:
        return dict.fromkeys(there, "was not simulated")
    now = {CAMPAIGN: _mark(head[2]), TABLE: sha256_of(folder / TABLE) if TABLE in there else head[1]}
    known = {CAMPAIGN: head[0], TABLE: head[1]}
    return {name: "was changed since it was simulated" for name in there if now[name] != known[name]}


def _head(campaign: Path) -> tuple[str, str, str] | None:
    """Both marks, and what follows them; None where a file does not say that it is virtual."""
    try:
        text = campaign.read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return None
    first, own, table, *rest = [*text.split("\n", 3), "", "", ""]
    if first != f"# {VIRTUAL}" or not own.startswith(_OWN) or not table.startswith(_TABLE):
        return None
    return own.removeprefix(_OWN), table.removeprefix(_TABLE), rest[0]


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
