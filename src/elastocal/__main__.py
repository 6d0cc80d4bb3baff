"""The command ``elastocal``: on a terminal a first word at once, since the commands take a moment to load."""

from __future__ import annotations

import gc
import os
import sys

LOADING = "elastocal ..."
COLLECTED = (300_000, 50)
"""Objects more than before at which cycles are looked for, and how often before it is done among those that stayed, as
nearly all that a command imports do."""


def main() -> None:
    gc.set_threshold(*COLLECTED)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # looking for some opens a file of every installed package
    asked = len(sys.argv) > 1 and not sys.argv[1].startswith("-")
    if asked and sys.stderr.isatty():
        sys.stderr.write(f"{LOADING}\r")
        sys.stderr.flush()
    from elastocal.app.cli.main import main as run

    if asked and sys.stderr.isatty():  # blanks: not every console of Windows knows how to clear a line
        sys.stderr.write(" " * len(LOADING) + "\r")
        sys.stderr.flush()
    try:
        run()
    finally:
        gc.freeze()  # memory goes with the process: no last search for cycles, which takes a tenth of a short command


if __name__ == "__main__":
    main()
