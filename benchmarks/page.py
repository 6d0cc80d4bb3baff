"""The figures in docs/performance.md, from one run of all races."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
START, END = "<!-- figures: written by python -m benchmarks -->", "<!-- end of figures -->"
GROWTH, GROWN = "<!-- growth: written by python -m benchmarks growth -->", "<!-- end of growth -->"
_GROWN = re.compile(r"([\d.e+]+) items: ([\d.]+ s, \d+ MB)")


def write(run: dict[str, Any]) -> None:
    """Put the tables of the races that were run in the places that the page keeps for them."""
    if run["races"].keys() != {"growth"}:
        _put(START, figures(run), END)
    if "growth" in run["races"]:
        _put(GROWTH, growth(run), GROWN)


def _put(start: str, text: str, end: str) -> None:
    before, rest = PAGE.read_text().split(start)
    PAGE.write_text(f"{before}{start}\n\n{text}\n{end}{rest.split(end)[1]}")


def figures(run: dict[str, Any]) -> str:
    """One table of all ratios and what else was measured; a ratio that is missed says so."""
    out = [
        f"One core of {run['machine']}, Python {run['python']}, NumPy {run['numpy']}; processor time, best of several "
        f"rounds, all contenders of a row in one process. The whole run took {run['minutes']:.0f} minutes of processor "
        "time. Other work on the machine makes short rows vary by a third.",
        "",
        "| work | here, us each | peer | ratio | asked for |",
        "|---|---|---|---|---|",
    ]
    facts = []
    for race, outcomes in run["races"].items():
        for outcome in outcomes if race != "growth" else ():
            out += [f"| {' | '.join(cells)} |" for cells in _ratios(outcome)]
            facts += [f"- {outcome['work']}: {fact}" for fact in outcome["facts"]]
    return "\n".join([*out, "", *facts, ""])


def _ratios(outcome: dict[str, Any]) -> list[tuple[str, ...]]:
    """The first row is what the others are compared with, unless every row is judged by itself."""
    first, *others = outcome["rows"]
    alone = not others or first["needed"] is not None
    out = []
    for row in [first, *others] if alone else others:
        needed = row["needed"]
        asked = "" if needed is None else f"{needed:g}" + (" (missed)" if row["verdict"] == "MISSED" else "")
        spent = row if alone else first
        peer = row["name"] if others or alone else ""
        out.append((outcome["work"], f"{spent['microseconds']:.3g}", peer, f"{row['ratio']:.3g}", asked))
    return out


def growth(run: dict[str, Any]) -> str:
    """Processor time and peak memory of every command over the sizes, and the files at the largest."""
    rows = {o["work"].removeprefix("growth of ").partition(",")[0]: o["facts"] for o in run["races"]["growth"]}
    found = {name: dict(m.groups() for f in facts if (m := _GROWN.fullmatch(f))) for name, facts in rows.items()}
    sizes = sorted({size for row in found.values() for size in row}, key=float)
    out = [
        f"{run['machine']}, Python {run['python']}, NumPy {run['numpy']}; {run['minutes']:.0f} minutes of processor "
        "time. Files are those of the largest size that was run.",
        "",
        f"| command | {' | '.join(f'{float(s):,.0f}'.replace(',', ' ') for s in sizes)} | files |",
        f"|---|{'---|' * (len(sizes) + 1)}",
    ]
    for name, row in found.items():
        files = rows[name][-1].removeprefix("files: ")
        out.append(f"| {name} | {' | '.join(row.get(s, '-') for s in sizes)} | {files} |")
    return "\n".join([*out, ""])
