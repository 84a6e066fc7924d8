"""The main commands as Python functions; `plurispiel.tournaments` exports them."""
