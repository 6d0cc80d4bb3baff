"""How a report leaves the program: text or JSON on stdout, files where asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastocal.app.cells.trace import FORMAT, current, versions
from elastocal.report.blocks import Report, Table
from elastocal.untrusted import shown_plainly
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.write import Content

PIPE_WIDTH = 160


_gathering: ContextVar[list[Any] | None] = ContextVar("gathering", default=None)


def print_json(data: Mapping[str, Any]) -> None:
    """One object, or one of those that are gathered."""
    held = _gathering.get()
    if held is None:
        print(json_text(data))
    else:
        held.append(data)


def json_text(data: Mapping[str, Any]) -> str:
    """One object, which says first what it is and what it was made with."""
    from elastocal.results import as_json

    return as_json({"format": FORMAT, "made_by": versions(), **data})


def report_files(
    report: Report, html: Path, data: Mapping[str, Any] | None = None, *, standalone: bool = False
) -> dict[Path, str | bytes]:
    """The report for people; in a cell the same as JSON beside it, for programs and for ``git diff``.

    The script that turns scenes is written beside it at once: it is no result, and the same for all reports.  A run
    in a cell writes nothing elsewhere but what was named, so that a report elsewhere carries the script.
    """
    from elastocal.files.write import write_script
    from elastocal.report.data import as_data
    from elastocal.report.html import as_html, bundle_name, has_scene, plotly_script

    run = current()
    standalone = standalone or (run.cell is not None and not run.keeps(html))
    files: dict[Path, str | bytes] = {html: as_html(report, standalone=standalone)}
    if has_scene(report) and not standalone:
        write_script(html.parent / bundle_name(), plotly_script)
    if run.keeps(html):
        files[html.with_suffix(".json")] = json_text(as_data(report) if data is None else data) + "\n"
    return files


@contextmanager
def gathered_answers(key: str) -> Iterator[None]:
    """Several answers become one JSON object, as a list under ``key``."""
    held: list[Any] = []
    token = _gathering.set(held)
    try:
        yield
    finally:
        _gathering.reset(token)
    if held:
        print_json({key: held})


def _as_excel(text: str) -> bytes:
    """The cells of a CSV text as a workbook."""
    from csv import reader

    from elastocal.files.tables.excel import excel_bytes

    header, *rows = reader(text.splitlines())
    return excel_bytes(header, rows)


def deliver(
    report: Report,
    json: bool,
    html: Path | None = None,
    csv: tuple[Path | None, Table] | None = None,
    on_screen: Report | None = None,
    data: dict[str, Any] | None = None,
    more: Mapping[Path, str | bytes] | None = None,
    standalone: bool = False,
    full: bool = False,
) -> None:
    """Files first, so that a failure leaves no half answer on the screen; then JSON or text.

    ``on_screen`` replaces the report in a terminal, ``data`` in JSON; ``more`` are files of the command's own.  What is
    not ``full`` takes one screen.
    """
    run = current()
    report = run.on(report)
    files: dict[Path, Content] = dict(more or {})
    if html is not None:
        files |= report_files(report, html, data, standalone=standalone)
    if csv is not None and csv[0] is not None:
        from elastocal.report.data import as_csv, csv_pieces

        excel = csv[0].suffix.lower() == ".xlsx"
        files[csv[0]] = _as_excel(as_csv(csv[1])) if excel else csv_pieces(csv[1])
    if files:
        run.write(files)
    if json:
        from elastocal.report.data import as_data

        warn(report.notes)
        written = {"files": [str(run.shown(f)) for f in files]} if files else {}
        print_json({**as_data(report), **written} if data is None else data)
        return
    if full:
        print_text(report)
    else:
        print_screen(report if on_screen is None else run.on(on_screen), html is not None)
    for file in files:
        print(f"written: {shown_plainly(str(run.shown(file)))}")


def print_screen(report: Report, written: bool) -> None:
    """What decides, and what else one screen holds; a line says what is left out and where it is."""
    from elastocal.report.screen import shortened
    from elastocal.report.text import words

    short, more = shortened(report, _width())
    print_text(short)
    where = "in the report, or here with --full" if written else "with --report FILE.html, or here with --full"
    for line in words(f"More {where}: {more}.", _width()) if more else ():
        print(shown_plainly(line))


def print_text(report: Report) -> None:
    from elastocal.report.text import print_report

    coloured = sys.stdout.isatty() or any(os.environ.get(name) for name in COLOURS)
    print_report(report, _coloured() if coloured else _Plain(_width()))


COLOURS = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Where one of these is set, rich decides whether a file or a pipe gets colours."""


@dataclass(frozen=True)
class _Plain:
    """Lines without colours, as rich prints them where there is no terminal; loading it takes longer than they do."""

    width: int

    def print(self, line: str, **style: Any) -> None:
        print(line.expandtabs())


def _coloured() -> Any:
    from rich.console import Console

    class Quiet(Console):
        """Leaves a broken pipe to whoever ends the program, in place of an exit of its own."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Quiet(file=sys.stdout, highlight=False, width=_width())


def _width() -> int:
    """COLUMNS where it is set, else the terminal's width, else enough for any table."""
    from shutil import get_terminal_size

    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    return get_terminal_size((80, 24)).columns if sys.stdout.isatty() else PIPE_WIDTH


def warn(notes: tuple[str, ...]) -> None:
    """Notes for people on stderr, where a program reading JSON does not see them."""
    for note in notes:
        print(f"elastocal: note: {shown_plainly(note)}", file=sys.stderr)
