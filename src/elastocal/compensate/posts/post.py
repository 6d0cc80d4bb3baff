"""A controller language: files to targets, and new values of targets back to files.

    write(read(files), no changes) = files, byte by byte

A post finds where the digits of targets stand and exchanges nothing else; what it does not understand it leaves as it
is and names with its line.  Adding a language is adding one file here with a class that has a ``kind``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath
from typing import ClassVar

from elastocal.compensate.program import Changes, Given, Program
from elastocal.errors import InputError
from elastocal.kinds import kinds_in


class Post(ABC):
    """Reads and rewrites the programs of one language."""

    kind: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    companions: ClassVar[tuple[str, ...]] = ()
    """Endings of files of the same stem that belong to a program, such as .dat to .src."""

    @abstractmethod
    def read(self, files: Mapping[str, bytes], given: Given | None = None) -> Program:
        """Targets, moves and frames of the files of one program, by file name."""

    @abstractmethod
    def write(self, program: Program, changes: Changes) -> dict[str, bytes]:
        """The same files with the new values."""


@cache
def post_kinds() -> dict[str, type[Post]]:
    """Every language by its kind."""
    from elastocal.compensate import posts

    return kinds_in(posts, Post)


def post_for(file: str) -> Post:
    """The language of a file by its ending."""
    ending = PurePath(file).suffix.lower()
    for post in post_kinds().values():
        if ending in (*post.suffixes, *post.companions):
            return post()
    known = ", ".join(f"{s} ({k})" for k, p in post_kinds().items() for s in p.suffixes)
    raise InputError(f"{file}: the ending {ending!r} is of no known language; rename it to what it is: {known}")
