"""How sure estimates are: draws from their distribution; nothing here knows what the parameters are."""
