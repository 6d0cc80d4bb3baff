"""Speed measured side by side: ``python -m benchmarks`` (or ``make bench``)."""
