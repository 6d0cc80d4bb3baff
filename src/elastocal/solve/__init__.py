"""Least squares with rank, priors, evidence, deletion residuals and samplers.  Knows no robot."""
