"""Exit codes of the program; 0 is success."""

FAILED = 1
"""The command could not be carried out, or a check found a defect."""

USAGE = 2
"""The options or settings are invalid, or a file or folder does not hold the expected data.

Also if `join` has no permission to send requests.
"""

FAULT_LIMIT = 3
"""An agent had too many faults."""

REFUSED = 4
"""An artefact is damaged, incomplete, of another kind or of another format."""

INTERRUPTED = 130
"""The command was ended by Ctrl-C, and what it had stored stays. For SIGTERM the code is 143, for SIGHUP 129."""
