"""Who does the jobs of a run: this process, the worker processes of one machine, or the machines of a cluster."""
