"""Drawings and texts of the commands other than `report`, whose page has its own folder."""
