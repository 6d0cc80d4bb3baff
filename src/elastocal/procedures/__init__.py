"""Whole procedures, one folder each, from what was logged to a result: equations, outliers, estimates, verdict.

weighed = procedures.gravity.identify(...)
"""

from elastocal.lazy import lazy

__all__ = ["compensator", "contact", "gravity", "loops", "transmission"]
__getattr__, __dir__ = lazy(__name__, {name: f"{__name__}.{name}:" for name in __all__})
