"""The report's section on the settings, seed or keys, digests and versions with which the run can be played again."""

from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.tournaments.report.panel import Panel, Section, html_table, paragraph
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.run.machines import machine_notes, machine_text
from plurispiel.tournaments.run.results import MIXED, printable


def _panel(run: RunRecord) -> Panel:
    config, results, facts = run.config, run.results, run.facts
    value = results["value_function"]
    found = {
        "game": game_string(config.rules),
        "agents": ", ".join(run.names),
        "format": config.format,
        "decks of each line-up": f"{results['decks']:,} of {config.decks:,}",
        "seed": "none, as the run drew a key" if config.draws_key else config.seed,
        "keys": ", ".join(f"{entry['key']} from deck {entry['first_deck']}" for entry in results["keys"])
        if results["keys"]
        else "published when the run has ended"
        if config.draws_key
        else "none",
        "deals": "a new deck for each rotation" if config.deals == "once" else "one deck for all rotations",
        "processes of an agent from outside": {
            None: "none",
            "rotation": "one for each rotation",
            "one": "one for all rotations",
        }.get(results["processes"], results["processes"]),
        "sandbox of agents from outside": results["sandbox"] or "not needed",
        "believed agents": ", ".join(run.names[number] for number in sorted(config.believed)) or "none",
        "score": results["score"],
        "AIVAT values": f"{value['name']}, {value['num_samples']} samples, digest {value['digest'] or 'not known yet'}"
        if value
        else "none",
        "referee": config.referee,
        "on_fault, max_faults": f"{config.on_fault}, {config.max_faults}",
        "time_limit, memory_limit": f"{config.time_limit:g} s, {config.memory_limit:,} MiB",
        "stop_when": config.stop_when or "never",
        "run digest (settings, agents' files, code)": facts.get("digest", ""),
        "package version, run format": f"{facts.get('version', '')}, {facts.get('format', '')}",
        "machine that played last": facts.get("machine", "not recorded"),
        "machines": "; ".join(map(machine_text, results["machines"])),
        "arithmetic": MIXED if results["mixed"] else "the same on all machines",
        "seconds played": f"{results['seconds']:,.1f}",
        "groups whose hands are kept": f"{run.num_kept:,} of {run.num_groups:,}",
    }
    rows = [(key, printable(str(value))) for key, value in found.items()]
    notes = "".join(map(paragraph, machine_notes(results["machines"])[1:]))
    return Panel(html_table(("what", "value"), rows, num_texts=2) + notes, rows)


PROVENANCE = Section(
    "provenance",
    "Provenance",
    "The run digest is a hash of the settings that decide the result of a group, of the agents' files and stored "
    "strategies, and of this package's code.",
    ("what", "value"),
    _panel,
)
