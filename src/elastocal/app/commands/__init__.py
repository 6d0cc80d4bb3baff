"""One file per command: a frozen request, a frozen result, and ``run`` between them.  Nothing is printed here."""
