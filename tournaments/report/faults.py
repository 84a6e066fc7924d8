"""The report's section on the faults of agents, by kind."""

from plurispiel.tournaments.report.panel import Panel, Section, html_table, paragraph
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.run.results import event_notes, printable


def _panel(run: RunRecord) -> Panel:
    agents = run.results["agents"]
    guilty = [number for number in run.ranking if agents[number]["faults"]]
    notes = "".join(paragraph(f"{run.names[n]}: {text}") for n in run.ranking for text in event_notes(agents[n]))
    if not guilty:
        return Panel(paragraph("No agent committed a fault.") + notes)
    table, rows = [], []
    for number in guilty:
        agent = agents[number]
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in agent["faults_by_kind"].items())
        fate = "only folded in the groups after its last fault" if agent["retired"] else "played on"
        first = printable(run.first_faults.get(number, ""))
        table.append((run.names[number], kinds, fate, first, f"{agent['faults']:,}"))
        rows += [(run.names[number], kind, count) for kind, count in agent["faults_by_kind"].items()]
    return Panel(html_table(("agent", "kinds", "its seat", "first fault", "faults"), table, num_texts=4) + notes, rows)


FAULTS = Section(
    "faults",
    "Faults",
    "Exceptions, illegal answers, time-outs and other violations of the contract. The setting on_fault decides the "
    "price of a fault for its agent. The fault costs no other agent anything.",
    ("agent", "kind", "faults"),
    _panel,
)
