"""Commands that are printed can be typed as they stand: a shell gives back the words."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from elastocal.untrusted import shell_line, shell_word

SOURCES = Path(__file__).parents[2] / "src" / "elastocal"
WORDS = (
    "plan",
    "zweite Zelle",
    "Prüf Messung ä.xlsx",
    "a$b",
    "it's",
    'say "x"',
    "A[2-6].k",
    "-1,2",
    "x&y",
    "~a",
    "a;b",
)


def test_a_shell_of_unix_gives_back_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "posix")
    assert shlex.split(shell_line(*WORDS)) == ["elastocal", *WORDS]


@pytest.mark.skipif(os.name == "nt", reason="asks a shell of Unix")
def test_a_real_shell_gives_back_the_words() -> None:
    line = shell_line(*WORDS).removeprefix("elastocal ")
    answer = subprocess.run(["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == list(WORDS)


@pytest.mark.parametrize("word", ["zweite Zelle", r"C:\My Cells\a", r"C:\cells", "it's", 'say "x"', "plain"])
def test_windows_reads_the_word_as_its_own_programs_write_it(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setattr(os, "name", "nt")
    typed = shell_word(word)
    assert typed.strip('"') in (subprocess.list2cmdline([word]).strip('"'), word)
    assert (" " in word or '"' in word or "'" in word) == typed.startswith('"')
    assert not typed.startswith("'")


def test_a_new_cell_with_a_blank_in_its_name(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = run("new", "zweite Zelle", "--robot", "kr5")
    assert made.code == 0, made.err
    lines = [line.strip() for line in made.out.splitlines() if line.strip().startswith("elastocal ")]
    assert [shlex.split(line)[1:] for line in lines][:2] == [["plan", "zweite Zelle"], ["simulate", "zweite Zelle"]]


def test_no_command_is_printed_with_a_word_that_nobody_quoted() -> None:
    """A value within braces behind elastocal and a command goes through shell_line."""
    bare = re.compile(r"elastocal [a-z]+(?: [A-Za-z.-]+)* (?:--\w+ )?\{(?!shell_word)")
    found = [
        f"{path.name}: {line.strip()}"
        for path in SOURCES.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if (match := bare.search(line)) and "from {" not in match[0]
    ]
    assert found == []
