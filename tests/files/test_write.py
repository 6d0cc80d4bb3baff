"""Files are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle.refusals import refused

from elastocal.errors import RangeError
from elastocal.files import write
from elastocal.files.write import AppendedLog, check_targets, make_folder, write_files


def test_text_arrives_byte_for_byte(tmp_path: Path) -> None:
    target = tmp_path / "a b.txt"
    target.write_text("old")
    write_files({target: "µ\r\nx\n"})
    assert target.read_bytes() == "µ\r\nx\n".encode()
    assert [p.name for p in tmp_path.iterdir()] == ["a b.txt"]


def test_a_text_may_come_in_parts(tmp_path: Path) -> None:
    write_files({tmp_path / "a.csv": (f"{i},µ\n" for i in range(3))})
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "0,µ\n1,µ\n2,µ\n"


def test_a_failure_within_the_parts_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    target.write_text("old")

    def parts() -> Iterator[str]:
        yield "new"
        raise RangeError("no more")

    with pytest.raises(RangeError):
        write_files({target: parts()})
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.csv", "old")]


def test_a_failure_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("old")
    stage = write._stage

    def full_disk(path: Path, text: str) -> str:
        if path == second:
            raise OSError(28, "No space left on device")
        return stage(path, text)

    monkeypatch.setattr(write, "_stage", full_disk)
    with refused("file", "No space left on device", file="second"):
        write_files({first: "new", second: "new"})
    assert first.read_text() == "old"
    assert os.listdir(tmp_path) == ["first"]


def test_targets_are_judged_before_any_work(tmp_path: Path) -> None:
    check_targets({"--csv": tmp_path / "x.csv", "--report": None})
    with refused("is-folder", file=tmp_path.name):
        check_targets({"--csv": tmp_path})
    with refused("no-folder", file="x.csv"):
        check_targets({"--csv": tmp_path / "no" / "x.csv"})
    with refused("same-file", file="x.csv"):
        check_targets({"--csv": tmp_path / "x.csv"}, {"--configurations": tmp_path / "." / "x.csv"})
    with refused("same-file", file="x"):
        check_targets({"--csv": tmp_path / "x", "--report": tmp_path / "x"})


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    make_folder(tmp_path / "new" / "deep")
    assert (tmp_path / "new" / "deep").is_dir()
    with refused("file", "Not a directory", file="below"):
        make_folder(tmp_path / "file" / "below")


def test_a_target_that_another_program_holds_open_leaves_all_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, table = tmp_path / "first.csv", tmp_path / "table.csv"
    first.write_text("old")
    table.write_text("old")

    def as_windows(source: object, target: object) -> None:
        if Path(str(target)).name == "table.csv":
            raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(write.os, "rename", as_windows)
    with refused("file", "The process cannot access the file", file="table.csv"):
        write_files({first: "new", table: "new"})
    assert (first.read_text(), sorted(os.listdir(tmp_path))) == ("old", ["first.csv", "table.csv"])


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with refused("no-text", "read R\udcfcbe.yaml", file="report.html"):
        write_files({tmp_path / "report.html": "read R\udcfcbe.yaml"})
    assert list(tmp_path.iterdir()) == []


def test_a_growing_log_has_the_same_bytes_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, real = [], os.open
    monkeypatch.setattr(write, "_AS_IT_IS", 1 << 30)
    monkeypatch.setattr(os, "open", lambda p, flags, mode: opened.append(flags) or real(p, flags & ~(1 << 30), mode))
    with AppendedLog(tmp_path / "log.xml", b"first") as log:
        log.add(b"second")
    assert opened[0] & 1 << 30
    assert (tmp_path / "log.xml").read_bytes() == b"first\nsecond\n"
