"""Many hands, files and the command line."""
