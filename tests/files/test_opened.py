"""Every reader tells what it has read, by the bytes that it saw."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from oracle.refusals import refused

from elastocal.files import opened
from elastocal.files.located import read_text
from elastocal.files.opened import note_file, read_bytes, sha256_of, watching
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.configurations import read_configurations


def mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_bytes_text_tables_and_shipped_robots_are_noted(tmp_path: Path) -> None:
    raw, text, table = tmp_path / "a.bin", tmp_path / "b.txt", tmp_path / "c.csv"
    raw.write_bytes(b"\x00\x01")
    text.write_bytes("grün\n".encode())
    table.write_bytes(b"q_mm\n1\n")
    with watching() as seen:
        read_bytes(raw)
        read_text(text)
        read_configurations(table, {"q": "prismatic"})
        read_robot("scara")
    names = {str(raw): b"\x00\x01", str(text): "grün\n".encode(), str(table): b"q_mm\n1\n"}
    assert {k: v for k, v in seen.items() if not k.startswith("shipped:")} == {k: mark(v) for k, v in names.items()}
    assert list(seen)[-1] == "shipped:scara-ruggeri"
    assert len(seen["shipped:scara-ruggeri"]) == 64


def test_the_mark_is_of_what_was_read_not_of_what_came_later(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")
    with watching() as seen:
        read_text(path)
        path.write_bytes(b"after")
    assert seen == {str(path): mark(b"before")}
    assert sha256_of(path) == mark(b"after")


def test_asking_for_a_mark_is_not_reading_and_watchers_nest(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x")
    with watching() as outer:
        sha256_of(path)
        with watching() as inner:
            note_file(path)
    assert outer == {}
    assert inner == {str(path): mark(b"x")}


def test_no_reader_opens_a_file_by_itself() -> None:
    opens = re.compile(r"\.read_bytes\(|\.read_text\(|(?<!os)\.open\(")
    folder = Path(opened.__file__).parent
    found = {
        p.relative_to(folder).as_posix() for p in folder.rglob("*.py") if opens.search(p.read_text(encoding="utf-8"))
    }
    asides = {"opened.py", "robot/read.py", "log/telegrams.py"}  # the place itself, and two that tell it what they read
    peeks = {"log/read.py", "campaign/write.py", "write.py", "cell.py"}  # which format is it, was it simulated
    peeks |= {"confined.py", "lock.py"}  # who is at work here, what did a killed run leave
    assert found - peeks - asides == set()
    assert all("opened import" in (folder / name).read_text(encoding="utf-8") for name in asides - {"opened.py"})


def test_nobody_watches(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x")
    assert read_bytes(path) == b"x"
    with refused("no-file", file="b.txt"):
        read_bytes(tmp_path / "b.txt")
    with refused("no-file", file=tmp_path.name):
        read_bytes(tmp_path)
