"""Signs that a console cannot show, as others that it can."""

from __future__ import annotations

import codecs

PLAINER = "elastocal.plainer"
"""The name under which a stream takes it for ``errors``."""


def _plainer(error: UnicodeError) -> tuple[str, int]:
    """Lines and dashes of hyphens, all else a question mark, in place of what the encoding lacks."""
    from elastocal.quantities import DASH
    from elastocal.report.text import RULE

    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join("-" if sign in (RULE, DASH) else "?" for sign in lacking), error.end


codecs.register_error(PLAINER, _plainer)
