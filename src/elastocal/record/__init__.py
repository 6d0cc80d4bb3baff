"""Listening to a controller: telegrams received, answered without any correction, and logged."""
