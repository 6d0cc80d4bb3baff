"""The robot under load: a chain of frames, compliant coordinates that bend, loads that push, and their statics."""
