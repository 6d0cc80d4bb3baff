"""Campaign files of contacts with known objects."""
