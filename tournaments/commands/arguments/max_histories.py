"""Option for the largest game tree that a command builds."""

import argparse


def add_max_histories(parser: argparse.ArgumentParser) -> None:
    """Add ``--max-histories`` to the parser of a command."""
    parser.add_argument(
        "--max-histories",
        type=int,
        metavar="N",
        default=20_000_000,
        help="largest number of histories of a game tree, at least 1; a history takes 37 bytes, and about three times "
        "as many while the tree is built",
    )
