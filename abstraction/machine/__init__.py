"""Code that is not poker: compiled kernels, random numbers, threads, memory, artefacts, settings and streams."""
