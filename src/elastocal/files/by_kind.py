"""Entries of a file that say by the word ``kind`` what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from elastocal.errors import UnknownNameError
from elastocal.files.located import Located, Path_

T = TypeVar("T")


def chosen(
    located: Located, path: Path_, what: str, entry: Any, kinds: Mapping[str, type[T]]
) -> tuple[type[T], dict[str, Any]]:
    """The class that an entry names and the entry without that word; ``what`` is such as "an obstacle"."""
    if not isinstance(entry, dict) or "kind" not in entry:
        raise located.error(path, f"{what} needs a kind: {', '.join(kinds)}")
    kind = str(entry["kind"])
    if kind not in kinds:
        raise UnknownNameError(f"kind of {what.partition(' ')[2]}", kind, kinds, located.where((*path, "kind")))
    return kinds[kind], {k: v for k, v in entry.items() if k != "kind"}
