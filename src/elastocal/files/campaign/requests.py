"""What a campaign file asks for: parameters to seek and to hold, thresholds, loss."""

from __future__ import annotations

from elastocal.errors import InputError
from elastocal.files.campaign.readings_entry import ReadingsEntry, Requests, Words, listed
from elastocal.files.located import Located, Path_
from elastocal.files.robot.read import selected
from elastocal.identify.reduction import sought_names
from elastocal.measure.campaign import Campaign
from elastocal.model.descriptions import beyond_form, in_form
from elastocal.model.robot import RobotModel


def read_requests(
    located: Located, entry: ReadingsEntry, model: RobotModel, campaign: Campaign, plan: bool
) -> tuple[Requests, tuple[str, ...]]:
    """The requests, every name checked, and a note where there are fewer numbers than parameters."""
    upper, lower = entry.thresholds
    if not upper > lower > 0:
        raise located.error(("thresholds",), f"[{upper:g}, {lower:g}]: the upper one stands first, both are positive")
    described = in_form(model, entry.form or "beam")
    for key, words in (("seek", entry.seek), ("hold", entry.hold)):
        _check_patterns(located, key, words, described)
    requests = Requests(
        None if entry.seek is None else listed(entry.seek), listed(entry.hold), entry.form, entry.thresholds,
        entry.loss, entry.reduce, entry.outliers,
    )  # fmt: skip
    try:
        names = sought_names(campaign.measurement, described, requests.seek, requests.hold)
    except InputError as error:
        raise located.error(("seek",) if entry.seek else ("robot",), str(error)) from None
    if not names and not entry.hold:
        raise located.error(("robot",), f"{model.name} has no parameter to seek; give it elements, such as compliances")
    if not names:
        raise located.error(("hold",), "nothing is left to seek; hold less")
    numbers = int(campaign.measured.sum())
    odd = beyond_form(model, entry.form) if entry.form else ()
    said = (f"Not of form {entry.form}, described as in the robot file: {', '.join(odd)}.",) if odd else ()
    if numbers >= len(names) or plan:
        return requests, said
    return requests, (
        *said,
        f"{numbers} numbers were read, fewer than the {len(names)} parameters sought.",
    )


def _check_patterns(located: Located, key: str, words: Words | None, model: RobotModel) -> None:
    if words is not None and key == "seek" and not listed(words):
        raise located.error((key,), "names nothing; name parameters, or leave the key out to seek all")
    for i, word in enumerate(listed(words)):
        place: Path_ = (key,) if isinstance(words, str) else (key, i)
        try:
            selected(model, (word,))
        except InputError as error:
            raise located.error(place, str(error)) from None
