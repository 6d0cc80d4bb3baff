"""How a printed number may have come from the predicted one: digits transposed, a wrong digit, sign or point."""

from __future__ import annotations

from collections.abc import Iterator

NEAR = 3.0
"""How many standard deviations of the prediction (and half a unit of the last place) a slip may be off."""


def slip(printed: str, predicted: float, sd: float) -> str:
    """Words for the slip that turns the predicted number into the printed text; "" where none does."""
    within = NEAR * sd + 0.5 * _unit(printed)
    for words, text in _slips(printed.strip()):
        try:
            meant = float(text)
        except ValueError:
            continue
        if meant != float(printed) and abs(meant - predicted) <= within:
            return f"{words}: {printed.strip()} for {text}"
    return ""


def is_transposition(words: str) -> bool:
    return words.startswith("digits transposed")


def _unit(printed: str) -> float:
    _, _, decimals = printed.strip().partition(".")
    return float(10.0 ** -len(decimals))


def _slips(text: str) -> Iterator[tuple[str, str]]:
    places = [i for i, c in enumerate(text) if c.isdigit()]
    for gap in range(1, len(places)):
        for i, j in zip(places, places[gap:], strict=False):
            swapped = list(text)
            swapped[i], swapped[j] = text[j], text[i]
            yield "digits transposed", "".join(swapped)
    yield "sign", text[1:] if text.startswith("-") else f"-{text}"
    for i in places:
        for digit in "0123456789":
            yield "one digit wrong", text[:i] + digit + text[i + 1 :]
    bare = text.replace(".", "")
    for i in range(len(bare) - 1, 0, -1):
        yield "decimal point", f"{bare[:i]}.{bare[i:]}"
    yield "digit missing", f"{bare}0"
