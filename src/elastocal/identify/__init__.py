"""Parameters from readings; nothing here knows what the parameters are."""
