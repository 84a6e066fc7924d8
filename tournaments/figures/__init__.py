"""Drawings and texts of all commands but `report`, which has a package of its own."""
