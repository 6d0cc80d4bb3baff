"""Where a search begins, and what it seeks only together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from elastocal.model.robot import Robot


@dataclass(frozen=True)
class Begin:
    """``start``: values that the search begins with, by name; what is not fitted keeps the model's value all the same.

    ``together``: names of parameters that are fitted or held only together.
    """

    start: Mapping[str, float] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()

    def model(self, model: Robot, names: Sequence[str]) -> Robot:
        """The model with the start values of ``names``."""
        return model.with_parameters({n: v for n, v in self.start.items() if n in set(names)})

    def units(self, names: Sequence[str]) -> list[list[int]]:
        """Places of ``names`` that stay together, in order of the first of each."""
        at = {n: i for i, n in enumerate(names)}
        joined = [[at[n] for n in unit] for unit in self.together if all(n in at for n in unit)]
        taken = {i for unit in joined for i in unit}
        return sorted([*joined, *([i] for i in range(len(names)) if i not in taken)])

    def widowed(self, sought: Sequence[str], kept: Sequence[str]) -> dict[str, str]:
        """Those of ``kept`` that were sought with another, which is not kept; and that other."""
        out: dict[str, str] = {}
        for unit in self.together:
            lost = [n for n in unit if n in set(sought) and n not in set(kept)]
            out |= {n: lost[0] for n in unit if lost and n in set(kept)}
        return out


PLAIN = Begin()
