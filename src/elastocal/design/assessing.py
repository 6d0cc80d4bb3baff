"""What a campaign would tell, before anything is measured: which parameters it determines, and how well."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from elastocal.measure.measured import Measured
from elastocal.model.robot import Robot
from elastocal.reduction.error_budget import Expected, expected
from elastocal.results import Finding, as_frame, as_html, shortened, warning
from elastocal.solve.identifiability import ABOVE, BELOW, Expectation, Group, Practical
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class Assessment:
    """``expected`` groups the parameters sought and gives their accuracy; nuisances take part in what is separable."""

    robot: Robot
    campaign: Measured
    expected: Expected

    @property
    def nuisances(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.expected.parameters if p.kind == "nuisance")

    @property
    def unobservable(self) -> tuple[str, ...]:
        """Parameters that nothing measured depends on."""
        groups = self.expected.groups
        return tuple(n for n, kind in zip(groups.names, groups.group, strict=True) if kind is Group.UNOBSERVABLE)

    @cached_property
    def practical(self) -> dict[Practical, tuple[Expectation, ...]]:
        """Parameters of the robot by what the noise leaves of them."""
        own = [e for e in self.expected.expectations if e.name not in self.nuisances]
        return {kind: tuple(e for e in own if e.group is kind) for kind in Practical}

    @cached_property
    def warnings(self) -> tuple[Finding, ...]:
        expected, groups = self.expected, self.expected.groups
        out = []
        if expected.lost:
            text = (
                f"NO STATE: {expected.lost} readings of the plan have no determined loaded state (a load that the arm "
                "cannot hold, or backlash without force); they would be lost."
            )
            out.append(warning("no-state", text, readings=expected.lost))
        if not groups.rank.clear:
            text = (
                f"The rank is not clear-cut: the singular values fall by a factor of only {groups.rank.gap:.0f} there; "
                "add configurations that differ more."
            )
            out.append(warning("rank-not-clear", text, gap=groups.rank.gap))
        if expected.equations < len(groups.names):
            text = f"{expected.equations} equations for {len(groups.names)} parameters: add configurations or markers."
            out.append(warning("too-few-equations", text, equations=expected.equations, parameters=len(groups.names)))
        hidden = self.unobservable
        if hidden:
            named = f"{', '.join(hidden[:8])}{' ...' if len(hidden) > 8 else ''}"
            text = f"Unobservable: {named}; load other directions."
            out.append(warning("unobservable", text, parameters=hidden))
        return tuple(out)

    def __repr__(self) -> str:
        groups, sizes = self.expected.groups, {kind: len(each) for kind, each in self.practical.items()}
        lines = [
            f"Assessment of {self.campaign.measurement.count} readings of {self.robot.name}: "
            f"{groups.rank.rank} combinations of {len(groups.names)} parameters, "
            + ", ".join(f"{n} {kind}" for kind, n in sizes.items()),
            *(f"  {e.name:<16} {e.group} sd {e.sd:.3g}, value / sd {e.ratio:.3g}" for e in self.expected.expectations),
            *(f"  warning {w.code}: {w.text}" for w in self.warnings),
        ]
        return shortened(lines)

    def _repr_html_(self) -> str:
        return as_html(self)

    def to_frame(self) -> object:
        """One row for every parameter: what the noise leaves of it, standard deviation, value over it."""
        own = self.expected.expectations
        return as_frame([{"name": e.name, "group": str(e.group), "sd": e.sd, "ratio": e.ratio} for e in own])


def assess(
    robot: Robot,
    campaign: Measured,
    names: Sequence[str] | None = None,
    *,
    thresholds: tuple[float, float] = (ABOVE, BELOW),
) -> Assessment:
    """What a campaign tells of the parameters ``names`` (patterns; default all that its measurement can sense).

    Its readings are not used, only where and under which errors they are taken; ``thresholds`` of value over standard
    deviation part what is identifiable in practice from what hardly is.
    """
    sought = campaign.measurement.names(robot, None if names is None else tuple(names))
    return Assessment(robot, campaign, expected(robot, campaign, sought, thresholds))
