"""Card features: how strong hands are."""
