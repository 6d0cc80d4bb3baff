"""One report object and its renderings: text for a terminal, HTML for people, JSON and CSV for programs."""
