"""What acts only together, written with the number that joins it: 40 N * gripper.p + gripper.gap."""

from __future__ import annotations

from collections.abc import Mapping

from elastocal.identifiability.groups import Combination, Groups

_QUOTIENTS = {("m", "m/N"): "N", ("rad", "rad/(N m)"): "N m", ("m", "rad"): "m", ("rad", "m"): "1/m"}


def combinations(groups: Groups, units: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence for every combination that stands for more than itself."""
    return tuple(
        f"{_listed((c.kept, *(n for n, _ in c.absorbed)))} act only as {written(c, units)}"
        for subgroup in groups.subgroups
        for c in subgroup.combinations
        if c.absorbed
    )


def written(combination: Combination, units: Mapping[str, str], digits: int = 4) -> str:
    """Scaled so that the smallest factor is one, each with its unit; ``digits`` of the factors are shown."""
    terms = [(combination.kept, 1.0), *combination.absorbed]
    last, least = min(terms, key=lambda t: abs(t[1]))
    out = ""
    for name, factor in terms:
        size = factor / least
        sign = "-" if size < 0 else "+" if out else ""
        times = _factor(abs(size), units[last], units[name], digits)
        out += f"{' ' if out else ''}{sign}{' ' if out else ''}{times}{name}"
    return out


def _factor(size: float, of: str, by: str, digits: int) -> str:
    unit = "" if of == by else _QUOTIENTS.get((of, by), f"({of})/({by})")
    if abs(size - 1) < 1e-9 and not unit:
        return ""
    return f"{size:.{digits}g}{' ' if unit else ''}{unit} * "


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
