"""The commands of the command line, one module each; their options are in `arguments`."""
