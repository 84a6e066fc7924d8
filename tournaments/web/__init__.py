"""Pages in the browser: runs of a folder, watched while they are played (`plurispiel web`)."""
