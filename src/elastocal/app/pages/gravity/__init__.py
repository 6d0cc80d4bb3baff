"""The report on the weight of an arm."""
