"""Parameters from a campaign by the reduction of 003: problem, fit, stages M1 to M3, diagnostics, prediction."""
