"""The figures in docs/performance.md, from the last run of every race."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
START, END = "<!-- figures: written by python -m benchmarks -->", "<!-- end of figures -->"


def write(run: dict[str, Any]) -> None:
    """Put the tables in the place that the page keeps for them; lines of races that this machine has not run stay."""
    text = PAGE.read_text()
    before, rest = text.split(START)
    old, after = rest.split(END)
    PAGE.write_text(f"{before}{START}\n\n{_with_others(figures(run), old)}\n{END}{after}")


def _with_others(new: str, old: str) -> str:
    """``new`` with the lines of ``old`` that stand for other work, or for a peer that was left out, at their end."""
    lines, known = new.splitlines(), {_subject(line) for line in new.splitlines()}
    for mark in ("|", "- "):
        last = max((i for i, line in enumerate(lines) if line.startswith(mark)), default=len(lines) - 1)
        others = [line for line in old.splitlines() if line.startswith(mark) and _subject(line) not in known]
        lines[last + 1 : last + 1] = others
    return "\n".join([*lines, ""])


def _subject(line: str) -> tuple[str, ...]:
    """Work and peer of a row, work of a remark."""
    cells = line.split(" | ")
    return (cells[0], cells[2]) if len(cells) > 3 else (line.partition(": ")[0],)


def figures(run: dict[str, Any]) -> str:
    """One table of all ratios, and what else was measured; a ratio that is asked for and missed says so."""
    out = [
        f"One core of {run['machine']}, Python {run['python']}, NumPy {run['numpy']}; processor time, best of several "
        "rounds, all contenders of a row in one process. Other work on the machine makes short rows vary by a third.",
        "",
        "| work | here, us each | peer | ratio | asked for |",
        "|---|---|---|---|---|",
    ]
    facts = []
    for race in run["races"].values():
        for outcome in race["outcomes"]:
            first, *others = outcome["rows"]
            for row in others or [first]:
                needed = row["needed"]
                asked = "" if needed is None else f"{needed:g}" + (" (missed)" if row["verdict"] == "MISSED" else "")
                peer = row["name"] if others else ""
                cells = (outcome["work"], f"{first['microseconds']:.3g}", peer, f"{row['ratio']:.3g}", asked)
                out.append(f"| {' | '.join(cells)} |")
            facts += [f"- {outcome['work']}: {fact}" for fact in outcome["facts"]]
    return "\n".join([*out, "", *facts, ""])
