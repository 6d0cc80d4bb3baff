"""Figures as SVG: for the page, for paper and for PDF, without any script."""
