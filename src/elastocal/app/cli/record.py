"""The command that listens to a controller: record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elastocal.app.cli import options as o


def record(
    protocol: Annotated[str, typer.Argument(metavar="PROTOCOL", help="rsi: KUKA's robot sensor interface.")],
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="Address of this machine that the controller sends to.")
    ],
    out: Annotated[Path, typer.Option(metavar="LOG.xml", help="The log to write; it must not exist.")],
    duration: Annotated[float | None, typer.Option(metavar="S", help="End after so many seconds.")] = None,
    most: Annotated[int | None, typer.Option("--max", metavar="N", help="End after so many telegrams.")] = None,
    controller: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Answer this controller only (default: whoever sends the first telegram)."
        ),
    ] = None,
    sen_type: Annotated[
        str, typer.Option(metavar="WORD", help="Sen Type of the answers, as in the controller's configuration.")
    ] = "ImFree",
    rehearse: Annotated[
        int | None, typer.Option(metavar="MS", help="No robot: a simulated controller sends every 4 or 12 ms.")
    ] = None,
    json: o.Json = False,
) -> None:
    """Record what a controller sends, without moving it.

    Every telegram is answered with its own IPOC and no correction, then logged. Ctrl-C, SIGTERM, --duration or --max
    end the recording; a recorder that is killed loses nothing that it has logged.

    \b
    Example:
      elastocal record rsi --listen 192.168.1.10:49152 --out sweep.xml --duration 60
    """
    from elastocal.app.cli.output import deliver, warn
    from elastocal.app.cli.progress import live
    from elastocal.app.commands import record as command
    from elastocal.app.pages import record as pages
    from elastocal.files.write import check_targets

    check_targets({"--out": out})
    request = command.RecordRequest(protocol, listen, out, duration, most, controller, sen_type, rehearse)
    result = command.run(request, live)
    page = pages.page(result)
    if json:
        warn(page.notes)
    deliver(page, json)
    if result.failed:
        raise typer.Exit(1)
