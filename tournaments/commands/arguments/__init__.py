"""What the commands take: their options and help, with the standard library alone."""
