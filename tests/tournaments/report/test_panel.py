"""Tables as CSV."""

import csv
import io

from plurispiel.tournaments.report.panel import csv_text


def test_no_cell_of_a_table_is_a_formula_and_numbers_stay_numbers():
    """As spreadsheets need it: what begins like a formula begins with a quote."""
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "a=1", "", " x"]
    rows = list(csv.reader(io.StringIO(csv_text(["=head", "n"], [[text, -1.5] for text in texts] + [[-3, None]]))))
    assert rows[0] == ["'=head", "n"]
    shown = ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "' =1", "' =1", "' =1", "'=1", "a=1", "", " x"]
    assert rows[1:] == [*([text, "-1.5"] for text in shown), ["-3", ""]]
