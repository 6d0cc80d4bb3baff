"""The studio: everything in the browser, for people who do not open a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from elastocal.app.cli import options as o
from elastocal.app.cli.command import command
from elastocal.errors import ExtraMissingError, InputError

NEEDED = ("fastapi", "uvicorn", "python_multipart", "jinja2")


@command("daily", 13, report=False)
def studio(
    folder: Annotated[
        Path, o.argument("FOLDER", "Folder of cells, or one cell; nothing outside of it is touched.")
    ] = Path(),
    port: Annotated[
        int | None, o.option("N", "Port (default: 8137, or a free one; 0: a free one).", min=0, max=65535)
    ] = None,
    host: Annotated[
        str, o.option("ADDRESS", "Address to listen on; any but this machine's own is your decision.")
    ] = "127.0.0.1",
    name: Annotated[list[str] | None, o.option("HOST", "A name that a proxy calls this server by; repeatable.")] = None,
    browser: Annotated[bool, o.flag("Open the browser.")] = True,
    json: o.Json = False,
) -> None:
    """Cells, readings, calibration and programs in the browser.

    A local web application: no request leaves this machine. The address that is printed carries a token, which every
    request needs. Ctrl-C stops it; work that runs goes on and is shown again after the next start.

    \b
    Example:
      elastocal studio cells
    """
    from importlib.util import find_spec
    from json import dumps

    missing = [m for m in NEEDED if find_spec(m) is None]
    if missing:
        raise ExtraMissingError.needed(f"the studio needs {', '.join(missing)}", "studio")
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder; make it first, or give another", code="no-folder", file=str(folder))
    from elastocal.studio.serve import bind, serve

    bound = bind(host, port, name or ())
    if json:
        print(dumps({"address": bound.address, "token": bound.key.token}), flush=True)
    else:
        print(f"Elastocal studio on {folder.resolve()}\n\n  {bound.opened}\n\nCtrl-C stops it.", flush=True)
    serve(folder, bound, browser and not json, spare=not json)
