"""The report on fitted arcs: tables of them, and circle-point analysis."""
