"""What users touch: commands (request in, result out), the pages that show results, and the command line over both."""
