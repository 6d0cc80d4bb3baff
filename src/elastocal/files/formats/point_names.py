"""What the names of points mean: ``{state}::{name}_{marker}`` of group and point."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elastocal.errors import UnknownNameError
from elastocal.files.formats.format import WORDS, Asked
from elastocal.files.tables.raw import Line

BETWEEN = "::"
MOST = 5
_FIELD = re.compile(r"\{(\w+)\}|(\*)")


@dataclass(frozen=True)
class PointNames:
    """Patterns of the last parts of a name (collection, group, point), and the fields in them."""

    parts: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    fields: tuple[str, ...]

    @staticmethod
    def of(text: str, parts: Sequence[str], asked: Asked) -> PointNames:
        """``parts`` are those of the names in the file."""
        pieces = text.split(BETWEEN)
        fields = tuple(f for f, _ in _FIELD.findall(text) if f)
        for field in fields:
            if field not in WORDS:
                raise UnknownNameError("part of a name", field, WORDS, asked.where("points"))
        if not fields or len(set(fields)) < len(fields):
            raise asked.error(("points",), f"{text!r} must name parts such as {{name}} and {{marker}}, each once")
        if len(pieces) > len(parts):
            raise asked.error(("points",), f"{text!r} has {len(pieces)} parts, and the file only {', '.join(parts)}")
        return PointNames(tuple(parts), tuple(re.compile(_regex(p)) for p in pieces), fields)

    def matched(self, file: Path, rows: Sequence[Line], asked: Asked) -> tuple[tuple[Line, ...], tuple[str, ...]]:
        """Rows (parts of the name, coordinates) as (fields, coordinates), and a note on points that do not fit."""
        count, own = len(self.parts), len(self.patterns)
        self._check_others(file, {cells[: count - own] for _, cells in rows}, asked)
        kept, odd = [], []
        for line, cells in rows:
            found = [p.fullmatch(c) for p, c in zip(self.patterns, cells[count - own : count], strict=True)]
            if all(found):
                values = {k: v for m in found if m for k, v in m.groupdict().items()}
                kept.append((line, (*(values[f] for f in self.fields), *cells[count:])))
            else:
                odd.append(f"{BETWEEN.join(cells[:count])} (line {line})")
        if not kept:
            raise asked.error(("points",), f"fits no point of {file}; the first is {odd[0]}")
        more = f" and {len(odd) - MOST} more" if len(odd) > MOST else ""
        said = f"{file.name}: left out, since 'points' does not fit: {', '.join(odd[:MOST])}{more}."
        return tuple(kept), ((said,) if odd else ())

    def _check_others(self, file: Path, others: set[tuple[str, ...]], asked: Asked) -> None:
        """Parts that the pattern leaves out are the same in all names, or points of two groups would be one."""
        for i, part in enumerate(self.parts[: len(self.parts) - len(self.patterns)]):
            if len(several := sorted({o[i] for o in others})) > 1:
                words = ", ".join(several[:MOST])
                raise asked.error(
                    ("points",),
                    f"{file} has points of several {part}s ({words}); say what they mean, or begin with *::",
                )


def _regex(text: str) -> str:
    out, at = "", 0
    for found in _FIELD.finditer(text):
        out += re.escape(text[at : found.start()]) + (f"(?P<{found[1]}>.+?)" if found[1] else ".*?")
        at = found.end()
    return out + re.escape(text[at:])
