"""The dealer's side of the ACPC's protocol: other programs sit at our table."""
