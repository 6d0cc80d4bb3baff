"""Tables of numbers: cells with places, columns with units, one module per content."""
