"""What a person does at a cell, beside the names of ``import elastocal``: all that the studio needs of commands."""
