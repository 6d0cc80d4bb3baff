"""``python -m fuzz [COUNT] [READER ...]``: so many mutations for every reader; what failed is kept and printed."""

from __future__ import annotations

import hashlib
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.forked import forked_expansion
from fuzz.judge import outcome
from fuzz.mutations import damaged
from fuzz.readers import READERS

KEPT = Path("fuzz-failures")
MOST = 20
"""Failures of one reader that are kept."""


def main(count: int, names: list[str]) -> int:
    failed = 0
    for name in names or READERS:
        reader, counts, kept = READERS[name], Counter[str](), set[str]()
        began, slowest = time.process_time(), 0.0
        with TemporaryDirectory() as folder, forked_expansion():
            path = reader.lay(Path(folder))
            whole = path.read_bytes()
            assert outcome(reader, path) == "read", name
            for i in range(count):
                content = damaged(whole, random.Random(f"{name}/{i}"))
                path.write_bytes(content)
                start = time.process_time()
                try:
                    counts[outcome(reader, path)] += 1
                except Exception as error:
                    counts["FAILED"] += 1
                    place = traceback.extract_tb(error.__traceback__)[-1]
                    what = f"{type(error).__name__} {Path(place.filename).name}:{place.lineno}"
                    if what not in kept and len(kept) < MOST:
                        kept.add(what)
                        KEPT.mkdir(exist_ok=True)
                        mark = hashlib.sha256(content).hexdigest()[:8]
                        (KEPT / f"{name.replace(' ', '-')}-{mark}{path.suffix}").write_bytes(content)
                        print(f"  {name} #{i} ({mark}): {what}: {str(error)[:200]!r}", flush=True)
                slowest = max(slowest, time.process_time() - start)
        failed += counts["FAILED"]
        spent = time.process_time() - began
        print(f"{name}: {count} mutations, {dict(counts)}, {spent:.0f} s, slowest {slowest:.2f} s", flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    words = sys.argv[1:]
    number = int(words.pop(0)) if words and words[0].isdecimal() else 10_000
    sys.exit(main(number, words))
