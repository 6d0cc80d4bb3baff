"""A campaign from readings to verdict in one call, with the starts and doubts that contacts and compensators need."""
