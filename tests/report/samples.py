"""A report with every kind of block."""

from __future__ import annotations

import math

from elastocal.report.blocks import (
    Axis,
    Bars,
    Column,
    Forest,
    Heatmap,
    Interval,
    Lines,
    Paragraphs,
    Report,
    Scene,
    Section,
    Series,
    Table,
    Tile,
)
from elastocal.report.parts import Arrows, Capsule, Dots, Labels, Mesh, Solids, Strokes

ARM = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.5, 0.0, 1.2))
OTHER = tuple((y, x, z) for x, y, z in ARM)
FLOOR = Mesh(((-1.0, -1.0, 0.0), (2.0, -1.0, 0.0), (2.0, 2.0, 0.0), (-1.0, 2.0, 0.0)), ((0, 1, 2), (0, 2, 3)))
SCENE = Scene(
    "scene",
    "An arm",
    "m",
    (
        Solids("arm", (Capsule(ARM[0], ARM[1], 0.12), Capsule(ARM[1], ARM[2], 0.08)), view="first"),
        Solids("arm", (Capsule(OTHER[0], OTHER[1], 0.12), Capsule(OTHER[1], OTHER[2], 0.08)), view="second"),
        Solids("floor", (FLOOR,), look="floor"),
        Strokes("path", (ARM[1:],), look="faint"),
        Dots("poses", (ARM[-1],), ("P1",)),
        Arrows("load", (ARM[-1],), ((1.5, 0.0, 0.8),), ("400 N",)),
        Labels("tracker", ((2.0, 2.0, 0.5),), ("tracker",)),
    ),
    ("Deflections are drawn 200 times larger.",),
)
X = tuple(float(i) for i in range(60))
CURVES = Lines(
    "errors", "Error along the program", "target", "", "distance", "mm",
    (
        Series("before", X, tuple(2 + math.sin(x / 9) for x in X), role="before"),
        Series("after", X, tuple(0.05 + 0.02 * math.sin(x / 5) for x in X), role="after", points=True),
        Series("expected, 95 %", X, (0.09,) * 60, role="expected", low=(0.01,) * 60),
        Series("outlier", (30.0,), (0.4,), points=True, role="outlier", words=("line 30",)),
        Series("tolerance", (0.0, 59.0), (0.2, 0.2), role="tolerance"),
    ),
    log=True,
)  # fmt: skip
NAMES = tuple(f"link{i}_end.k{i}{i}" for i in range(1, 17))
CORRELATIONS = Heatmap(
    "correlations", "Correlations", Axis("", "", X[:16], NAMES), Axis("", "", X[:16], NAMES), "correlation", "",
    tuple(tuple(math.cos(i - j) for i in range(16)) for j in range(16)), downwards=True, signed=True,
)  # fmt: skip
MAP = Heatmap(
    "map", "Stiffness", Axis("x", "mm", tuple(20 * x for x in X)), Axis("y", "mm", tuple(20 * x for x in X[:30])),
    "stiffness", "N/um", tuple(tuple(math.sin(x / 9) + y / 30 for x in X) for y in X[:30]), equal=True,
    drawn=(Series("program", (200.0, 400.0, 400.0), (100.0, 100.0, 300.0)),),
)  # fmt: skip
POLAR = Lines(
    "polar", "By direction", "direction", "deg", "compliance", "um/N",
    (Series("measured", (0.0, 90.0, 200.0), (1.0, 2.0, 1.5), points=True, spread=(0.1, 0.2, 0.1)),), polar=True,
)  # fmt: skip
BARS = Bars(
    "budget", "Uncertainty budget", NAMES[:3], ("tracker", "load"), ((20, 80), (60, 40), (10, 90)), "share", "%"
)
FOREST = Forest("forest", "Compliance", "urad/(N m)", (Interval("A1.k", 0.334, 0.01, 0.3),))
LONG = Table(
    "long",
    "Readings",
    (Column("a", "reading"), Column("b", "value", "mm", 3)),
    tuple((f"P{i}", i / 7) for i in range(40)),
)
SHORT = Table(
    "short", "Accuracy", (Column("a", "error"), Column("b", "RMS", "mm", 3)), (("before", 2.0), ("after", 0.05))
)
EVERY_BLOCK = Report(
    "Every block",
    ("The tool is within 0.2 mm.", "MANY OUTLIERS: look at line 30."),
    (
        Section("Accuracy", (SHORT, CURVES, SCENE), step="First"),
        Section("Parameters", (FOREST, BARS, CORRELATIONS, LONG), step="Second"),
        Section("Maps", (MAP, POLAR), step="Third"),
        Section("Folded", (Paragraphs(("folded words",)),), folded=True, step="Second"),
    ),
    ("a note",),
    tiles=(
        Tile("before", "2.70", "mm", "RMS, 18 poses", "before"),
        Tile("after", "0.051", "mm", "RMS, 18 poses", "after"),
        Tile("decision", "PASS", state="good"),
    ),
)  # fmt: skip
