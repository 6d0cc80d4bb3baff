"""Makes the package ``oracle`` importable: the laws again, written without the code under test."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
