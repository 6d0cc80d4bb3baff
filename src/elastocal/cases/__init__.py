"""Published cases: inputs, printed figures, recomputation at run time, verdict.  One file is one case."""
