"""Which Elastocal made a result: the first thing that every result rests on."""

from elastocal import __version__
from elastocal.report.blocks import Fact

VERSION = Fact("elastocal", "Elastocal", __version__, __version__)
