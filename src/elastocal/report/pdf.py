"""A certificate as PDF/A-3b, with the result it renders attached as JSON.  Needs the extra ``pdf`` (typst)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from importlib import resources
from typing import Any

from elastocal.errors import InputError
from elastocal.report.blocks import Figure
from elastocal.report.certificate import ONLY, Certificate
from elastocal.report.data import as_json
from elastocal.report.html import as_svg


def as_pdf(certificate: Certificate, result: Mapping[str, Any], figure: Figure | None = None) -> bytes:
    """``result`` is attached; where a date is stated, the same inputs give the same bytes."""
    try:
        import typst
    except ImportError:
        raise InputError(
            "a PDF needs typst: install elastocal with the extra pdf, or write the certificate as .html",
            code="no-typst",
        ) from None
    template = resources.files("elastocal.report").joinpath("certificate.typ").read_bytes()
    inputs = {
        "certificate": as_json(_data(certificate)),
        "result": as_json(dict(result)),
        "figure": "" if figure is None else as_svg(figure, 620.0),
    }
    made = typst.compile(
        template, format="pdf", sys_inputs=inputs, pdf_standards=["a-3b"], ignore_system_fonts=True, timestamp=0
    )
    assert isinstance(made, bytes)
    return made


def _data(c: Certificate) -> dict[str, Any]:
    """What the template shows."""
    day = c.issue_day or date.today().isoformat()  # PDF/A asks for a date of the document
    reason = f"{c.reason[:1].upper()}{c.reason[1:]}."
    groups = [{"title": g.title, "lines": [vars(line) for line in g.lines]} for g in c.groups]
    data = c.data() | {
        "number": c.number, "sentence": reason, "groups": groups, "main_warnings": list(c.main_warnings),
        "hashes": list(c.hashes), "only": ONLY,
    }  # fmt: skip
    return data | {"day": [int(part) for part in day.split("-")]}
