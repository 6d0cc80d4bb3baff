"""Docstrings are plain text with ``code`` and indented formulas; this makes them safe reStructuredText."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_CODE = re.compile(r"(``.+?``)")
_MARKUP = re.compile(r"([\\*|`]|_(?!\w))")


def plain(lines: list[str]) -> list[str]:
    """Prose escaped, indented blocks and ruled tables kept as they are typed."""
    out: list[str] = []
    literal = ruled = False
    for line in lines:
        if not line.strip():
            ruled = False
            out.append("")
            continue
        ruled = ruled or line.startswith("===")
        if line.startswith(" ") or ruled:
            if not literal:
                out += ["", "::", ""]
            out.append(f"    {line}")
            literal = True
            continue
        if literal:
            out.append("")
        literal = False
        parts = _CODE.split(line)
        out.append("".join(p if i % 2 else _MARKUP.sub(r"\\\1", p) for i, p in enumerate(parts)))
    return out


def _process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = plain(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True}
