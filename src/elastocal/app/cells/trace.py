"""The run of a command, so that its results can be traced and repeated.

``running`` is entered once per run.  Within it every file that is read is known by its SHA-256, and results that are
written into a cell get a record beside them, in the same step.  In a cell the folder of the cell is the working folder:
results are the same, byte by byte, from wherever the command was typed.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastocal import __version__
from elastocal.files.opened import SHIPPED, seen_from, watching
from elastocal.installed import version
from elastocal.report.blocks import Fact, Report
from elastocal.values import dataclass

if TYPE_CHECKING:
    from elastocal.files.cell import CellFolder, Stated
    from elastocal.files.write import Content

    Contents = Mapping[Path, Content]

FORMAT = "elastocal-result/1"


@cache
def versions() -> dict[str, str]:
    """That an answer was made with: written into every output, so that it can be traced and had again."""
    return {
        "elastocal": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy")},
    }


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


@dataclass(frozen=True, eq=False)
class Trace:
    """``words`` follow ``elastocal``, with paths seen from the cell; ``label`` names the record.

    ``settings`` is what was taken from cell.yaml, ``own_notes`` what is to be said of it; ``read`` grows while
    files are read.
    """

    words: tuple[str, ...]
    label: str
    cell: CellFolder | None = None
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    read: Mapping[str, str] = field(default_factory=dict)
    own_notes: tuple[str, ...] = ()

    @property
    def inputs(self) -> dict[str, str]:
        """SHA-256 of everything read so far, by path as seen from the working folder."""
        return {name if name.startswith(SHIPPED) else _seen(name): mark for name, mark in self.read.items()}

    def shown(self, path: Path) -> Path:
        """A path as seen from where the command was typed."""
        if self.cell is None or path.is_absolute():
            return path
        return Path(os.path.normpath(self.cell.folder / path))

    def notes(self) -> tuple[str, ...]:
        """What came from cell.yaml, and which inputs are results of the cell and older than what they rest on."""
        if self.cell is None:
            return ()
        from elastocal.app.cells.freshness import stale_inputs

        return (*self.own_notes, *stale_inputs(self.cell, self.inputs, self.label))

    def on(self, report: Report) -> Report:
        """The report with what it rests on; one that says its inputs says by which version first."""
        version = Fact("elastocal", "Elastocal", __version__)
        inputs, facts = self.inputs, (version, *report.inputs) if report.inputs else ()
        short = tuple(f"{name} {mark[:16]}" for name, mark in inputs.items())
        if short:
            words = "; ".join(short)
            facts += (Fact("files", "files read (SHA-256, first 16 digits)", short, words), Fact("sha256", "", inputs))
        place = "" if self.cell is None else "certificate in cell.yaml"
        certificate = report.certificate and replace(report.certificate, files=inputs, stated_in=place)
        return replace(report, inputs=facts, notes=(*report.notes, *self.notes()), certificate=certificate)

    def keeps(self, path: Path) -> bool:
        """Whether a file stands in the cell of this run."""
        return self.cell is not None and _inside(path)

    def recorded(self, files: Contents) -> dict[Path, Content]:
        """The files, and the record of this run where some of them stand in its cell."""
        cell = self.cell
        if cell is None or not any(self.keeps(path) for path in files):
            return dict(files)
        from elastocal.files.run_record import RunRecord, record_text
        from elastocal.files.write import encoded, make_folder

        whole = {path: text if isinstance(text, str | bytes) else "".join(text) for path, text in files.items()}
        outputs = {_seen(path): hashlib.sha256(encoded(path, text)).hexdigest() for path, text in whole.items()}
        place = cell.place("records") / f"{self.label}.json"
        make_folder(place.parent)
        record = RunRecord(
            command=self.words, cell=dict(self.settings), seed=self.seed, inputs=self.inputs, outputs=outputs,
            versions=versions(), time=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )  # fmt: skip
        return {**whole, place: record_text(record)}

    def write(self, files: Contents) -> None:
        """All files with their record, or none."""
        from elastocal.files.write import write_files

        write_files(self.recorded(files))


@contextmanager
def running(
    words: tuple[str, ...], cell: CellFolder | None = None, *, label: str | None = None, seed: int | None = None,
    settings: Mapping[str, Any] | None = None, notes: tuple[str, ...] = (), typed: tuple[Path, ...] = (),
    alone: bool = True,
) -> Iterator[Trace]:  # fmt: skip
    """A run of ``elastocal words``; in a cell its folder is the working folder, and all paths are seen from there.

    Others wait where it is ``alone`` in the cell; it writes elsewhere only what was ``typed``.
    """
    with watching() as read, nullcontext() if cell is None else _within(cell, words, typed, alone):
        trace = Trace(words, label or words[0], cell, seed, settings or {}, read, notes)
        token = _current.set(trace)
        try:
            yield trace
        finally:
            _current.reset(token)


@contextmanager
def _within(cell: CellFolder, words: tuple[str, ...], typed: tuple[Path, ...], alone: bool) -> Iterator[None]:
    from elastocal.files.confined import confined, finish
    from elastocal.files.lock import locked
    from elastocal.untrusted import shown_plainly

    def wait(message: str) -> None:
        print(f"elastocal: {shown_plainly(message)}; Ctrl-C gives up", file=sys.stderr, flush=True)

    lock = locked(cell.root, " ".join(words), wait) if alone else nullcontext(False)
    with lock as is_alone, chdir(cell.folder), confined(cell.root, typed):
        if is_alone:
            finish(cell.root)
        yield


def current() -> Trace:
    """The run that is going on; one without a name where nobody has entered ``running``."""
    return _current.get() or Trace((), "")


def stated_for_certificate(tolerance_mm: float | None) -> Stated:
    """What the cell of this run states, with the tolerance that was typed."""
    from elastocal.errors import RangeError
    from elastocal.files.cell import Stated

    cell = current().cell
    stated = Stated() if cell is None else cell.certificate
    if tolerance_mm is None:
        return stated
    if not 0 < tolerance_mm < float("inf"):
        raise RangeError(f"{tolerance_mm:g} mm is no tolerance; give one above 0", parameter="tolerance")
    return replace(stated, tolerance=1e-3 * tolerance_mm)


def _seen(path: str | Path) -> str:
    """From the working folder where it lies within, else as it was given; with / between folders."""
    return seen_from(path, Path()) if _inside(Path(path)) else Path(path).as_posix()


def _inside(path: Path) -> bool:
    return path.resolve().is_relative_to(Path.cwd().resolve())
