"""A report as one HTML file that opens from disk without a network."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from elastocal import __version__
from elastocal.report import figures
from elastocal.report.blocks import Block, Code, Heatmap, Lines, Paragraphs, Report, Scene, Table
from elastocal.report.display import displayed, parted
from elastocal.report.scene import scene

MOST_ROWS = 400


def as_html(report: Report) -> str:
    import jinja2

    source = resources.files("elastocal.report").joinpath("page.html.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.tests["loud"] = loud
    drawings: list[dict[str, Any]] = []
    sections = [
        {"title": s.title, "blocks": [_block(part, drawings) for b in s.blocks for part in _parts(b)]}
        for s in report.sections
    ]
    return environment.from_string(source).render(
        report=report,
        sections=sections,
        drawings=_for_script(drawings),
        plotly=_plotly() if drawings else "",
        version=__version__,
    )


def loud(sentence: str) -> bool:
    """Warnings begin with two words in capitals."""
    first = [w.strip(":;,.") for w in sentence.split()[:2]]
    return len(first) == 2 and all(len(w) > 1 and w.isupper() and w.isalpha() for w in first)


def _parts(block: Block) -> tuple[Block, ...]:
    return parted(block) if isinstance(block, Table) else (block,)


def _block(block: Block, drawings: list[dict[str, Any]]) -> dict[str, Any]:
    if isinstance(block, Paragraphs):
        return {"kind": "text", "paragraphs": block.paragraphs}
    if isinstance(block, Code):
        return {"kind": "code", "text": block.text}
    if isinstance(block, Table):
        return {"kind": "table", "title": block.title, "shown": displayed(block, MOST_ROWS)}
    title = f"{block.title}: {block.name} [{block.unit}]" if isinstance(block, Heatmap) else block.title
    drawings.append(_drawing(block))
    return {"kind": "figure", "number": len(drawings) - 1, "title": title, "notes": block.notes}


def _drawing(block: Heatmap | Lines | Scene) -> dict[str, Any]:
    if isinstance(block, Scene):
        return scene(block)
    if isinstance(block, Heatmap):
        return figures.heatmap(block)
    return figures.polar(block) if block.polar else figures.lines(block)


def _for_script(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
