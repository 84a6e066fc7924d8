"""The executors of a run's jobs: this process, worker processes of one machine, or machines of a cluster."""
