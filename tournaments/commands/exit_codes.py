"""Exit codes of the program; 0 is success."""

FAILED = 1
"""The command could not be carried out, or a check found a defect."""

USAGE = 2
"""Invalid options, settings or content of a folder."""

FAULT_LIMIT = 3
"""An agent had too many faults."""

REFUSED = 4
"""An artefact is damaged, or was written by another version."""

INTERRUPTED = 130
"""The command was ended by Ctrl-C; progress is kept. For SIGTERM the code is 143, for SIGHUP 129."""
