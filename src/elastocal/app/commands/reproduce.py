"""Published cases, recomputed now and compared figure by figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.app.cli.progress import Progress

if TYPE_CHECKING:
    from elastocal.published.gallery import CaseList, Gallery, ReproduceResult

    Shown = CaseList | Gallery | ReproduceResult


@command("published", 2, progress="recomputing")
def reproduce(
    case: Annotated[
        str | None, o.argument("[CASE]", "Name of a case; without it all: a list, or their gallery.")
    ] = None,
    report: o.ReportFile = None,
    progress: Progress | None = None,
) -> Shown:
    """Recompute a published case and compare figure by figure.

    Without a case, --report makes the gallery of all of them. Ends with 1 if a printed number is not reproduced and
    nothing explains it.

    \b
    Example:
      elastocal reproduce kr270-elastostatic
      elastocal reproduce --report gallery.html
    """
    from elastocal.published import gallery
    from elastocal.published.case import registry

    if case is not None:
        return gallery.recompute(case, progress=progress)
    return gallery.CaseList(tuple(registry().values())) if report is None else gallery.run(progress=progress)
