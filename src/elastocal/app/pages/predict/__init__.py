"""The report on predictions: of deflections, and of readings."""
