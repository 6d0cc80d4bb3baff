"""How sure estimates are: draws from their distribution, what they predict, what the model leaves out."""
