"""The commands that show what the program does: demo, on a virtual robot, and reproduce, on published cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the cell; it must be empty, or hold an older demonstration.")
    ] = Path("elastocal-demo"),
    json: o.Json = False,
) -> None:
    """The whole cycle on a shipped robot, with a report.

    Plan, virtual campaign, identification, corrected program and proof on the true robot, in a cell that stays behind
    to be looked at and changed. Takes less than a minute.

    \b
    Example:
      elastocal demo --out elastocal-demo
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.cli.progress import progress
    from elastocal.app.commands import demo as command
    from elastocal.app.pages.demo import page as pages

    with command.new_cell(out) as cell:
        result = command.run(cell, progress)
        whole = pages.page(result)
        short = pages.short(whole, result, out)
        deliver(whole, json, cell.place("reports") / "demo.html", on_screen=short)


def reproduce(
    case: Annotated[
        str | None, typer.Argument(metavar="[CASE]", help="Name of a case; without it all: a list, or their gallery.")
    ] = None,
    report: o.ReportFile = None,
    json: o.Json = False,
) -> None:
    """Recompute a published case and compare figure by figure.

    Without a case, --report makes the gallery of all of them. Ends with 1 if a printed number is not reproduced and
    nothing explains it.

    \b
    Example:
      elastocal reproduce kr270-elastostatic
      elastocal reproduce --report gallery.html
    """
    from elastocal.app.cli.output import deliver
    from elastocal.app.cli.progress import progress
    from elastocal.app.commands import gallery
    from elastocal.app.commands import reproduce as command
    from elastocal.app.pages import gallery as gallery_pages
    from elastocal.app.pages import reproduce as pages
    from elastocal.files.write import check_targets

    check_targets({"--report": report})
    if case is not None:
        with progress(f"recomputing {case}") as callback:
            result = command.run(case, progress=callback)
        deliver(pages.page(result), json, report, data=command.outcome_data(result.outcome))
        unexplained = len(result.outcome.unexplained)
    elif report is not None:
        with progress("recomputing all cases") as callback:
            made = gallery.run(progress=callback)
        deliver(gallery_pages.page(made), json, report, on_screen=gallery_pages.short(made), data=gallery.data(made))
        unexplained = gallery.tally(made.printed).unexplained
    else:
        lines = command.cases()
        deliver(pages.list_page(lines), json, data=command.cases_data(lines))
        return
    if unexplained:
        raise typer.Exit(1)
