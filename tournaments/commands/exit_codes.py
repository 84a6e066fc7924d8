"""What the program's exit codes mean; 0 is well."""

FAILED = 1
"""It could not be done, or what was found is not as it should be."""

USAGE = 2
"""Options, settings or a folder's content make no sense."""

FAULT_LIMIT = 3
"""An agent had too many faults."""

REFUSED = 4
"""An artefact is damaged, or of another version."""

INTERRUPTED = 130
"""By Ctrl-C; what was done is kept. By SIGTERM it is 143, by SIGHUP 129."""
