"""Which candidates to measure: criteria, exchange search, certificate, number and order. Arrays only, no robots."""
