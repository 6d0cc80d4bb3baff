"""The figures in docs/performance.md, from one run of all races."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
START, END = "<!-- figures: written by python -m benchmarks -->", "<!-- end of figures -->"
_GROWN = re.compile(r"([\d.e+]+) items: ([\d.]+ s, \d+ MB)")


def write(run: dict[str, Any]) -> None:
    """Put the tables in the place that the page keeps for them."""
    before, rest = PAGE.read_text().split(START)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{START}\n\n{figures(run)}\n{END}{after}")


def figures(run: dict[str, Any]) -> str:
    """One table of all ratios and what else was measured, then how commands grow; a ratio that is missed says so."""
    out = [
        f"One core of {run['machine']}, Python {run['python']}, NumPy {run['numpy']}; processor time, best of several "
        f"rounds, all contenders of a row in one process. The whole run took {run['minutes']:.0f} minutes of processor "
        "time. Other work on the machine makes short rows vary by a third.",
        "",
        "| work | here, us each | peer | ratio | asked for |",
        "|---|---|---|---|---|",
    ]
    facts, growth = [], []
    for outcomes in run["races"].values():
        for outcome in outcomes:
            if outcome["work"].startswith("growth of "):
                growth.append(outcome)
                continue
            out += [f"| {' | '.join(cells)} |" for cells in _ratios(outcome)]
            facts += [f"- {outcome['work']}: {fact}" for fact in outcome["facts"]]
    return "\n".join([*out, "", *facts, "", *_growth(growth)])


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


def _growth(outcomes: list[dict[str, Any]]) -> list[str]:
    """Processor time and peak memory of every command over the sizes."""
    if not outcomes:
        return []
    found = {o["work"]: dict(m.groups() for f in o["facts"] if (m := _GROWN.fullmatch(f))) for o in outcomes}
    sizes = sorted({size for row in found.values() for size in row}, key=float)
    out = [
        "Commands in processes of their own, over decades of rows, lines and points: processor time and peak memory, "
        "with start-up, report and files.",
        "",
        f"| command | {' | '.join(f'{float(s):,.0f}'.replace(',', ' ') for s in sizes)} |",
        f"|---|{'---|' * len(sizes)}",
    ]
    for work, row in found.items():
        name = work.removeprefix("growth of ").partition(",")[0]
        out.append(f"| {name} | {' | '.join(row.get(s, '-') for s in sizes)} |")
    return [*out, ""]
