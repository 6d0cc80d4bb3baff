"""Tables as other programs write them: one file = one format."""
