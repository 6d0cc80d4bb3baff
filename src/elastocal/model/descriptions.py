"""One robot described with fewer and fewer parameters on physical grounds (003 section 4.2).

M1  each 6x6 spring symmetric: 36 -> 21 (an elastic body is, Maxwell).
M2  the zeros of a template: 21 -> 8, where the spring's own matrix has them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from elastocal.model.compliant.link_compliance import LinkCompliance, fits
from elastocal.model.robot import Robot
from elastocal.values import dataclass

Form = Literal["full", "symmetric", "beam"]
FORMS: tuple[Form, ...] = ("full", "symmetric", "beam")


@dataclass(frozen=True, eq=False)
class Description:
    """A model, the step that led to it, and in one clause what that step does to a parameter it takes away."""

    title: str
    action: str
    model: Robot
    form: Form = "full"

    def reason(self, name: str) -> str:
        if self.form == "symmetric":
            place, symbol = name.rsplit(".", 1)
            return f"equal to {place}.k{symbol[2]}{symbol[1]} by symmetry"
        return "zero in the template of a beam along x"


_WORDS: dict[Form, tuple[str, str]] = {
    "full": ("complete", "every element of every spring on its own"),
    "symmetric": ("symmetry M1", "elastic bodies are symmetric (Maxwell): k_ij = k_ji"),
    "beam": ("template M2", "zeros of a beam along x (003 eq. 24)"),
}


def descriptions(model: Robot, form: Form | None = None) -> tuple[Description, ...]:
    """The complete model, then M1 and M2 as far as ``form`` (default: as far as the springs' own matrices allow)."""
    return tuple(Description(*_WORDS[f], in_form(model, f), f) for f in FORMS[: FORMS.index(form or "beam") + 1])


def beyond_form(model: Robot, form: Form) -> tuple[str, ...]:
    """Places of springs that ``in_form`` leaves as they are, because their own matrix has no place in the form."""
    return tuple(
        e.place
        for e in model.elements
        if isinstance(e, LinkCompliance) and e.form in FORMS and not fits(e.matrix, form)
    )


def in_form(model: Robot, form: Form) -> Robot:
    """6x6 springs described by this form, each where its own matrix allows it; isotropic ones stay."""
    elements = tuple(
        e.in_form(form) if isinstance(e, LinkCompliance) and e.form in FORMS and fits(e.matrix, form) else e
        for e in model.elements
    )
    return replace(model, elements=elements)
