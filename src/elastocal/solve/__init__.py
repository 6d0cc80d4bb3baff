"""The one least-squares kernel: rows in units of noise, priors, evidence, deletion residuals.  Knows no robot."""
