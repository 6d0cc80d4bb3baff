"""How sure estimates are: draws from their distribution, prediction, starts for springs and contacts, the study."""
