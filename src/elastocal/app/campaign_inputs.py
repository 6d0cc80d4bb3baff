"""The files that a campaign file leads to: nothing may be written over them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastocal.files.campaign.file import CampaignFile


def given_by(word: str, file: CampaignFile) -> dict[str, Path | None]:
    """The campaign file under ``word``, its robot and its tables, as ``check_targets`` wants them."""
    own, *others = file.files
    return {word: own, **{f"{word} as {other.name}": other for other in others}}
