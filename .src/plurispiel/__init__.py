"""Pluribus- and DeepStack-style poker agents built on OpenSpiel, and the tools that measure them.

Import from the four packages: `plurispiel.abstraction` (rules and cards), `plurispiel.agents`,
`plurispiel.evaluation` and `plurispiel.tournaments`. This module itself imports nothing, so that
`plurispiel --help` answers at once.
"""

__version__ = "0.1.0"
