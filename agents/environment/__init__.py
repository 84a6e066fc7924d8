"""The table of a learner: its actions and observations, and many tables stepped together by kernels."""
