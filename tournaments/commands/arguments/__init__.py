"""Options and help of the commands, one module for each command, and options that several commands share.

No module here imports numpy, so that ``--help`` answers quickly.
"""
