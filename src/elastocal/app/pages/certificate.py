"""A certificate on the screen: the decision, and what is not stated."""

from __future__ import annotations

from elastocal.app.commands.certificate import CertificateResult
from elastocal.report.blocks import Report


def page(result: CertificateResult) -> Report:
    c = result.certificate
    warned = tuple(f"WARNING: {w}." for w in c.warnings)
    return Report(f"Certificate {c.number}: {c.item}", warned, (), certificate=c)
