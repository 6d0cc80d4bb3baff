"""Published cases: printed numbers as data (``data``), recomputation at run time, verdict.  One class is one case."""
