"""The command line: one file per family of commands, what they share, and how the program ends."""
