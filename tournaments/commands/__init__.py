"""The commands of the command line, one module for each; the options of the commands are in `arguments`."""
