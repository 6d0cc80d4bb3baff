"""The studio: a local web application on a folder of cells.

One module is one page.  Long work is a command of the package in a process of its own; what a page shows beside is
what the front door returns.
"""
