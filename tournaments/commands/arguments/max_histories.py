"""The largest game tree that a command takes."""

import argparse


def add_max_histories(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--max-histories",
        type=int,
        metavar="N",
        default=20_000_000,
        help="refuse larger games (37 bytes a history, three times that while it is made)",
    )
