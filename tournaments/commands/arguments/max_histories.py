"""Option for the largest game tree that a command builds."""

import argparse


def add_max_histories(parser: argparse.ArgumentParser) -> None:
    """Add ``--max-histories`` to the parser of a command."""
    parser.add_argument(
        "--max-histories",
        type=int,
        metavar="N",
        default=20_000_000,
        help="largest game tree, in histories, at least 1; each takes 37 bytes, and three times as many while the tree "
        "is built",
    )
