"""The report on a gravity compensator: geometry, spring, plan of the next measurement."""
