"""The bucket table that several test modules look at."""

import pytest

from plurispiel.abstraction.cards.buckets import load_table


@pytest.fixture(scope="session")
def table(bucket_table_folder):
    return load_table(bucket_table_folder), bucket_table_folder
