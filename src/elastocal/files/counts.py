"""How many of something may be asked for: far above any use, below what would take days or all memory."""

from __future__ import annotations

from elastocal.errors import InputError

MOST: dict[str, tuple[int, str]] = {
    "repeats": (1_000, "a drift of the set-up then outweighs what repeats gain"),
    "poses": (2_000, "an instrument takes a day for 500"),
    "most": (2_000, "an instrument takes a day for 500"),
    "candidates": (200_000, "more cost hours and improve no plan"),
    "restarts": (1_000, "more improve no plan"),
    "samples": (1_000, "torques are smooth along a sweep"),
    "count": (100_000, "accuracy is shown to two digits"),
    "outliers": (10_000, "a campaign has fewer readings"),
    "workers": (256, "a machine has fewer processors"),
    "emcee": (100_000, "a chain of that length takes a day"),
    "plan": (2_000, "an instrument takes a day for 500"),
}
"""By the name of a key or parameter: the largest number, and why."""


def too_many(name: str, value: object) -> str:
    """What is wrong with a count, as the end of a sentence; nothing where it is right or no count."""
    if name not in MOST or not isinstance(value, int) or isinstance(value, bool):
        return ""
    most, why = MOST[name]
    return f"{value} are too many, at most {most}: {why}" if value > most else ""


def check_count(name: str, value: object) -> None:
    """For an option; its name is added by the command line."""
    if complaint := too_many(name, value):
        raise InputError(f"{name}: {complaint}", code="too-many", value=value, parameter=name)
