"""Routines of other .src files of the folder: what they leave active is active behind their calls.

A call without a routine of that name in the file goes to the file of that name; its own motions are its own program's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from elastocal.compensation.posts.collect import Collector
from elastocal.compensation.posts.krl_data import Lookup, Variables, stem, variables
from elastocal.compensation.posts.krl_frames import State
from elastocal.compensation.posts.krl_read import Walk
from elastocal.compensation.posts.routines import Active, Unknown, filled, joined, start
from elastocal.compensation.posts.text import Text
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass


@dataclass(eq=False)
class Elsewhere:
    """``texts`` are the files beside the program, ``frames`` and ``into`` those of its reading."""

    texts: Mapping[str, Text]
    modules: Mapping[str, Variables]
    frames: dict[str, dict[str, Pose]]
    into: Collector
    exits: dict[str, Active] = field(default_factory=dict)
    within: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, beside: Mapping[str, Text], own: Mapping[str, Text], frames: dict[str, dict[str, Pose]], into: Collector
    ) -> Elsewhere:
        return cls(beside, variables([*own.values(), *beside.values()]) if beside else {}, frames, into)

    def called(self, name: str, active: Active) -> Active | None:
        """What is active behind the call of a routine (upper case); None where no file has it."""
        text = next((t for file, t in self.texts.items() if file.upper() == f"{name}.SRC"), None)
        if text is None:
            return None
        if name in self.within:
            return dict.fromkeys(active, Unknown(f"{name} calls itself"))
        if name not in self.exits:
            self.within.append(name)
            self.exits[name] = self._exit(text, name)
            self.within.pop()
        return filled(self.exits[name], start(name), active)

    def _exit(self, text: Text, name: str) -> Active:
        begin = State(start(name), start(name), start(name))
        collector = Collector()
        collector.notes, collector.unread = self.into.notes, self.into.unread
        names = Lookup(self.modules, stem(text.name), text.name)
        walk = Walk(text, dict(self.texts), names, collector, self.frames, {}, {}, begin, elsewhere=self)
        head = next((m for m in walk.heads if m[2].upper() == name), None)
        if head is None:
            return dict.fromkeys(begin.active, Unknown(f"{text.name} has no routine {name}"))
        walk.line, walk.ends = text.line(head.start(2)), []
        walk.run()
        return joined([*walk.ends, walk.state.active], f"{name} ends in more than one place")
