"""What to measure: criteria, exchange search, certificate, number and order on arrays; cells, loads and whole plans."""
