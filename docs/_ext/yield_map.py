"""A map of how far the tool sinks per newton, drawn while a page is built, of a robot file that the page shows.

```{yield-map} arm60.yaml
:at: 0,-60,80,0,40,0
:over: A2:-120:-20:25,A3:10:120:25
```
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.model.statics.stiffness import stiffness

COLOURS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]])
LEFT, TOP, SIZE = 70, 15, 330


def shown_file(page: str, name: str) -> str:
    """The text of a block with this caption."""
    found = re.search(rf"```\{{code-block\}} yaml\n:caption: {re.escape(name)}\n(.*?)```", page, re.DOTALL)
    if found is None:
        raise ValueError(f"the page shows no {name}")
    return found[1]


def colour(share: float) -> str:
    place = share * (len(COLOURS) - 1)
    i = min(int(place), len(COLOURS) - 2)
    return "rgb({:.0f},{:.0f},{:.0f})".format(*(COLOURS[i] + (place - i) * (COLOURS[i + 1] - COLOURS[i])))


def svg(names: list[str], grid: list[np.ndarray], values: np.ndarray) -> str:
    """Squares of colour with two axes and a scale; ``values`` (y, x) in um/N."""
    (x, y), low, high = grid, float(values.min()), float(values.max())
    w, h = SIZE / len(x), SIZE / len(y)
    out = ['<svg class="map" viewBox="0 0 520 400" role="img" aria-label="map of the vertical yield">']
    for (j, i), v in np.ndenumerate(values):
        place = (
            f'x="{LEFT + i * w:.1f}" y="{TOP + SIZE - (j + 1) * h:.1f}" width="{w + 0.3:.1f}" height="{h + 0.3:.1f}"'
        )
        out.append(f'<rect {place} fill="{colour((v - low) / (high - low))}"/>')
    end = TOP + SIZE
    for share in np.linspace(0, 1, 5):
        across, up = LEFT + share * SIZE, end - share * SIZE + 5
        out += [
            f'<text x="{across:.0f}" y="{end + 18}" text-anchor="middle">{x[0] + share * np.ptp(x):.0f}</text>',
            f'<text x="{LEFT - 8}" y="{up:.0f}" text-anchor="end">{y[0] + share * np.ptp(y):.0f}</text>',
            f'<text x="452" y="{up:.0f}">{low + share * (high - low):.2f}</text>',
        ]
    for t in range(40):
        out.append(
            f'<rect x="430" y="{TOP + SIZE * (39 - t) / 40:.1f}" width="14" height="8.6" fill="{colour(t / 39)}"/>'
        )
    out += [
        f'<text x="{LEFT + SIZE / 2}" y="{end + 38}" text-anchor="middle">{names[0]} [deg]</text>',
        f'<text transform="translate(18 {TOP + SIZE / 2}) rotate(-90)" text-anchor="middle">{names[1]} [deg]</text>',
        f'<text x="430" y="{end + 38}">µm/N</text></svg>',
    ]
    return "".join(out)


class YieldMap(SphinxDirective):
    """The other axes stand ``at`` the given values; ``over`` are two axes with from, to and number."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"at": str, "over": str}

    def run(self) -> list[nodes.Node]:
        page = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        name = self.arguments[0]
        robot = build_robot(parse_yaml(shown_file(page, name), name))
        axes = [part.split(":") for part in self.options["over"].split(",")]
        grid = [np.linspace(float(low), float(high), int(count)) for _, low, high, count in axes]
        shown = np.tile([float(v) for v in self.options["at"].split(",")], (grid[0].size * grid[1].size, 1))
        for (axis, *_), values in zip(axes, np.meshgrid(*grid), strict=True):
            shown[:, robot.controller.axes.index(axis)] = values.ravel()
        found = stiffness(robot, robot.controller.to_joints(np.deg2rad(shown))).compliance[:, 2, 2]
        field = (1e6 * found).reshape(grid[1].size, grid[0].size)
        return [nodes.raw("", svg([a[0] for a in axes], grid, field), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("yield-map", YieldMap)
    return {"parallel_read_safe": True}
