"""The arguments of a KRL motion: literals written in place, or variables with one value."""

from __future__ import annotations

import re

from elastocal.compensate.posts.krl_data import Literal, Lookup, Missing, literal
from elastocal.compensate.posts.text import Text

_NAME = re.compile(r"([A-Za-z_]\w*(?:\[[ \t]*\d+[ \t]*\])?)(?![\w.$\[(])", re.A)


def argument(file: Text, names: Lookup, at: int, end: int) -> tuple[Literal, str, int]:
    """Literal, name ("": written in place) and where the argument ends."""
    text = file.text
    while at < end and text[at] in " \t":
        at += 1
    if text[at : at + 1] == "{":
        close = text.find("}", at, end) + 1
        value = literal(file.name, text, at, close) if close else None
        if value is None:
            raise Missing("the structure has other things than keys and numbers")
        name, at = "", close
    else:
        found = _NAME.match(text, at, end)
        if not found:
            raise Missing(f"expression {file.shown(at, end)!r} is not known when the file is read")
        value, name, at = names.value(found[1]), found[1], found.end()
    if value.computed:
        raise Missing(f"{value.computed} is not known when the file is read")
    while at < end and text[at] in " \t":
        at += 1
    if text[at : at + 1] == ":":
        raise Missing(f"geometric sum {file.shown(at, end)!r}")
    return value, name, at


def code_end(text: str, start: int, end: int) -> int:
    """Where the comment or the line end begins, blanks before it left out."""
    mark = text.find(";", start, end)
    if mark >= 0 and '"' in text[start:mark]:
        mark = next((m.start() + start for m in re.finditer(r'"[^"\r\n]*"|;', text[start:end]) if m[0] == ";"), -1)
    end = end if mark < 0 else mark
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    return end
