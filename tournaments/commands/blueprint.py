"""`plurispiel blueprint`: train blueprints, resume their training, inspect, match and pack them."""

import argparse
import contextlib
import dataclasses
import json
import math
import shlex
import sys
import time
from pathlib import Path

from plurispiel.abstraction.actions.tree import TreeSize, tree_size
from plurispiel.abstraction.cards.buckets import load_table
from plurispiel.abstraction.cards.build import build_table
from plurispiel.abstraction.cards.config import PRESETS as CARD_PRESETS
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import STREETS
from plurispiel.abstraction.machine.artefact import holds_artefact
from plurispiel.abstraction.machine.files import require_writable
from plurispiel.abstraction.machine.folders import blueprints_folder, tables_folder
from plurispiel.abstraction.machine.interrupts import interrupts_held
from plurispiel.abstraction.machine.memory import available_bytes, resident_bytes
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.agents.blueprint.blueprint import FOLDER, Blueprint, load_blueprint, missing_table
from plurispiel.agents.blueprint.bundle import PACK_BEGIN, SUFFIX, pack_blueprint
from plurispiel.agents.blueprint.cards import (
    CardBuckets,
    lossless_buckets,
    require_table_game,
    single_buckets,
    table_buckets,
)
from plurispiel.agents.blueprint.config import (
    EXTERNAL,
    LOSSLESS,
    PUBLIC,
    BlueprintConfig,
    MenuConfig,
    preset_names,
    read_blueprint_config,
    read_preset,
)
from plurispiel.agents.blueprint.devices import CPU, make_trainer, require_device
from plurispiel.agents.blueprint.library import find_blueprint, find_packed
from plurispiel.agents.blueprint.match import DECKS_AT_ONCE, play_match, require_same_betting
from plurispiel.agents.blueprint.public_boards import num_hands
from plurispiel.agents.blueprint.public_trainer import PublicTrainer
from plurispiel.agents.blueprint.run import (
    TrainingRun,
    begin_run,
    checkpoint_folders,
    load_checkpoint,
    start_trainer,
    weight_of_start,
)
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.agents.blueprint.training_record import CI95
from plurispiel.tournaments.commands.abstraction import find_table
from plurispiel.tournaments.commands.exit_codes import INTERRUPTED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.figures.blueprint_text import blueprint_record, blueprint_text, draw_blueprint, grids_text
from plurispiel.tournaments.figures.picture import MatplotlibMissing
from plurispiel.tournaments.figures.training_curve import write_marks
from plurispiel.tournaments.run.folder_lock import locked
from plurispiel.tournaments.run.kernels import CARDS, PUBLIC_TRAINING, TRAINING, warmup

_GIB = 1 << 30
# Memory of the betting tree: bytes for each node, and further bytes for each node where the betting is over. Such a
# node also takes 4 bytes for each seat.
_TREE_NODE_BYTES, _TREE_END_BYTES = 23, 2
_CALIBRATION_S = 3.0  # length of the trial that measures the speed of training
_MAX_MINUTES = 1_000_000.0
_MAX_DECKS = 10_000_000_000
_MATCH = ("abstraction.holdem.hand_ranks", "agents.blueprint.match")  # the modules whose kernels play matches


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if options.action is None:
        raise ValueError("give an action: train, resume, info, match or pack (plurispiel blueprint --help tells more)")
    actions = {"train": _train, "resume": _resume, "info": _info, "match": _match, "pack": _pack}
    return actions[options.action](options)


def _train(options: argparse.Namespace) -> int:
    threads = _threads(options)
    _check_checkpoints(options)
    config = _config(options)
    require_device(options.device, config)
    if options.weight is not None and not options.start:
        raise ValueError("--weight is for a run that starts from a blueprint: give --from, too, or leave out --weight")
    if options.start:
        weight_of_start(config, options.weight)
    folder = Path(options.out) if options.out else blueprints_folder() / config.name
    if options.minutes is not None and options.iterations is not None:
        raise ValueError("a budget is --iterations or --minutes, not both")
    minutes = _minutes(options.minutes)
    size = tree_size(config.rules, config.game_menu)
    lossless = _cards(config, size, threads) if config.cards == LOSSLESS else None
    buckets = lossless.num_buckets if lossless else _table_buckets(config, size)
    _require_memory(config, size, buckets, starts=bool(options.start), device=options.device, force=options.force)
    warmup(PUBLIC_TRAINING if config.algorithm == PUBLIC else TRAINING)
    cards = lossless or _cards(config, size, threads)
    start = load_blueprint(find_blueprint(options.start)) if options.start else None
    if not math.isinf(minutes):
        config = _fit(config, cards, minutes, start, threads=threads, device=options.device)
    with locked(folder):  # until the first checkpoint nothing else tells that the folder is taken
        with interrupts_held():
            run = begin_run(
                folder,
                config,
                cards,
                threads=threads,
                num_marks=options.marks,
                start=start,
                start_weight=options.weight,
                device=options.device,
            )
        say(f"{config.name}: {config.iterations:,} iterations, seed {config.seed}, {_where(run)}; kept in {folder}")
        return _go(run, options, 60.0 * minutes * 1.1)


def _resume(options: argparse.Namespace) -> int:
    threads = _threads(options)
    _check_checkpoints(options)
    folder = _run_folder(options.run)
    # A folder without checkpoints is refused when they are read; its lock would create it.
    with locked(folder) if checkpoint_folders(folder) else contextlib.nullcontext():
        return _resume_in(folder, options, threads)


def _resume_in(folder: Path, options: argparse.Namespace, threads: int) -> int:
    checkpoint, refused = load_checkpoint(folder)
    for error in refused:
        say(f"{error}\nresuming from the checkpoint before it")
    config = checkpoint.config
    require_device(options.device, config)
    if options.iterations is not None:
        checkpoint = dataclasses.replace(checkpoint, schedule=checkpoint.schedule.extended(options.iterations))
    minutes = _minutes(options.minutes)
    warmup(PUBLIC_TRAINING if config.algorithm == PUBLIC else TRAINING)
    size = tree_size(config.rules, config.game_menu)
    cards = _cards(config, size, threads)
    with interrupts_held():
        run = TrainingRun(
            folder,
            config,
            make_trainer(config, cards, threads=threads, device=options.device),
            num_marks=checkpoint.num_marks,
        )
        try:
            run.restore(checkpoint)
        except ValueError as error:
            raise type(error)(f"{folder}: {error}") from None
    say(
        f"{config.name}: resuming at iteration {run.trainer.iteration:,} of {run.trainer.schedule.iterations:,}, "
        f"{_where(run)}"
    )
    return _go(run, options, run.seconds + 60.0 * minutes)


def _go(run: TrainingRun, options: argparse.Namespace, seconds: float) -> int:
    """Train with a progress bar, print the blueprint, and return the exit code.

    Training ends with the schedule, or when the run's training time, earlier calls included, reaches `seconds`.
    """
    trainer = run.trainer
    with progress_bar(
        total=trainer.schedule.iterations,
        initial=trainer.iteration,
        unit="it",
        unit_scale=True,
        mininterval=0.5,
    ) as progress:
        before = [trainer.num_nodes, run.seconds]

        def advance() -> None:
            nodes, spent = trainer.num_nodes, run.seconds
            rate = (nodes - before[0]) / max(spent - before[1], 1e-9)
            before[:] = [nodes, spent]
            text = f"{rate / 1e6:.1f} M nodes/s, {resident_bytes() / _GIB:.1f} GiB"
            if run.marks:
                text += f", {100 * run.marks[-1].met:.1f} % met, regret {run.marks[-1].regret:,.1f} mbb"
            progress.set_postfix_str(text, refresh=False)
            progress.update(trainer.iteration - progress.n)

        def show() -> None:
            write_marks(run.folder / "marks.csv", run.marks)

        try:
            run.go(
                seconds=seconds,
                checkpoint_seconds=60.0 * options.checkpoint_minutes,
                step=interrupts_held,
                on_progress=advance,
                on_mark=show,
            )
        except KeyboardInterrupt:
            progress.close()
            with interrupts_held():
                run.keep()
                say(
                    f"interrupted at iteration {trainer.iteration:,} of {trainer.schedule.iterations:,}. To continue:\n"
                    f"  {shlex.join(['plurispiel', 'blueprint', 'resume', str(run.folder.absolute())])}"
                )
            return INTERRUPTED
    if trainer.iteration < trainer.schedule.iterations:
        say(f"the time is over at iteration {trainer.iteration:,} of {trainer.schedule.iterations:,}; resume continues")
    blueprint = load_blueprint(run.folder / FOLDER)
    if options.json:
        print(json.dumps(blueprint_record(blueprint, run.folder / FOLDER)))
    else:
        print(blueprint_text(blueprint, run.folder / FOLDER))
    return 0


def _info(options: argparse.Namespace) -> int:
    folder, packed = find_blueprint(options.blueprint), find_packed(options.blueprint)
    blueprint = load_blueprint(folder)
    if options.json:
        print(json.dumps(blueprint_record(blueprint, folder, packed)))
    else:
        print("\n\n".join(filter(None, (blueprint_text(blueprint, folder, packed), grids_text(blueprint)))))
    if options.plot:
        sys.stdout.flush()
        try:
            for path in draw_blueprint(blueprint, Path(options.plot)):
                say(f"drawn in {path}")
        except MatplotlibMissing as error:
            say(f"no picture: {error}")
    return 0


def _match(options: argparse.Namespace) -> int:
    threads = _threads(options)
    if not 2 <= options.decks <= _MAX_DECKS:
        raise ValueError(f"decks are 2 to {_MAX_DECKS:,}, got {options.decks:,}")
    if options.seed < 0:
        raise ValueError(f"seed is a whole number from 0, got {options.seed}")
    folders = [find_blueprint(name) for name in (options.first, options.second)]
    first, second = (load_blueprint(folder) for folder in folders)
    require_same_betting(first, second)
    for name, folder in zip((options.first, options.second), folders, strict=True):
        if table := missing_table(folder):
            raise ValueError(f"{name} needs its bucket table first: plurispiel abstraction build {table}")
    warmup(_MATCH)
    with progress_bar(total=-(-options.decks // DECKS_AT_ONCE), unit="x 2,000 decks") as progress:
        found = play_match(first, second, options.decks, seed=options.seed, threads=threads, progress=progress)
    figures = zip(found.seat_means, found.seat_deviations, strict=True)
    seats = dict(zip(seat_positions(first.rules), figures, strict=True))
    if options.json:
        print(
            json.dumps(
                {
                    "agents": [options.first, options.second],
                    "decks": found.num_decks,
                    "seed": options.seed,
                    "mbb_per_hand": found.mean,
                    "ci95": CI95 * found.deviation,
                    "seats": {name: {"mbb_per_hand": mean, "ci95": CI95 * sd} for name, (mean, sd) in seats.items()},
                    "missing": None if math.isnan(found.missing) else found.missing,
                }
            )
        )
        return 0
    print(
        f"{options.first} wins {found.mean:+.1f} ± {CI95 * found.deviation:.1f} mbb/hand against {options.second} "
        f"({found.num_decks:,} decks, each once for each seat; seed {options.seed})"
    )
    print("by seat: " + "  ".join(f"{name} {mean:+.0f} ± {CI95 * sd:.0f}" for name, (mean, sd) in seats.items()))
    print(f"decisions without a strategy, played uniformly: {100 * found.missing:.2f} %")
    return 0


def _pack(options: argparse.Namespace) -> int:
    path = Path(options.out)
    if path.suffix != SUFFIX:
        raise ValueError(f"a packed blueprint is a {SUFFIX} file, got {options.out!r}")
    if not 0 <= options.decks <= _MAX_DECKS:
        raise ValueError(f"decks are 0 to {_MAX_DECKS:,}, got {options.decks:,}")
    threads = _threads(options)
    folder = find_blueprint(options.blueprint)
    require_writable(path, "give another file (--out)", (PACK_BEGIN,))  # now, and not after minutes of counting
    found = pack_blueprint(folder, path, num_decks=options.decks, least=options.least, threads=threads)
    if options.json:
        print(json.dumps({"file": str(path)} | found))
        return 0
    print(f"{path}: {found['bytes'] / 1e6:.2f} MB")
    for street, (rows, kept) in enumerate(zip(found["rows"], found["rows_kept"], strict=True)):
        print(f"{STREETS[street]:8} {kept:13,} of {rows:13,} rows")
    return 0


def _config(options: argparse.Namespace) -> BlueprintConfig:
    if options.config in preset_names():
        config = read_preset(options.config)
    elif options.config.endswith(".toml"):
        has_budget = options.iterations is not None or options.minutes is not None  # it replaces the file's iterations
        config = read_blueprint_config(Path(options.config), iterations=1 if has_budget else None)
    else:
        raise ValueError(
            f"a blueprint is a preset ({', '.join(preset_names())}) or a .toml file, got {options.config!r}"
            + suggestion(options.config, preset_names())
        )
    changes = {"iterations": options.iterations, "seed": options.seed, "cards": options.cards}
    return dataclasses.replace(config, **{name: value for name, value in changes.items() if value is not None})


def _cards(config: BlueprintConfig, size: TreeSize, threads: int) -> CardBuckets:
    """Return the buckets of a configuration; a preset's bucket table is built first if it is missing."""
    num_streets = _num_streets(size)
    if config.cards == LOSSLESS:
        return lossless_buckets(config.rules, num_streets)
    if config.cards in CARD_PRESETS and not holds_artefact(tables_folder() / config.cards):
        say(f"building the bucket table {config.cards} first (about a minute on two processors)")
        warmup(CARDS)
        build_table(CARD_PRESETS[config.cards], tables_folder() / config.cards, threads=threads, show_progress=True)
    return table_buckets(config.rules, load_table(find_table(config.cards)), num_streets)


def _table_buckets(config: BlueprintConfig, size: TreeSize) -> tuple[int, ...]:
    """Return the number of buckets on each street that the tree reaches; a preset's table need not have been built."""
    require_table_game(config.rules, _num_streets(size))
    if config.cards in CARD_PRESETS:
        preset = CARD_PRESETS[config.cards]
        found: tuple[int, ...] = (169, preset.flop.buckets, preset.turn.buckets, preset.river.buckets)
    else:
        found = tuple(load_table(find_table(config.cards)).num_buckets.values())
    return found[: _num_streets(size)]


def _num_streets(size: TreeSize) -> int:
    return max(street for street, pairs in enumerate(size.pairs) if pairs) + 1


def _require_memory(
    config: BlueprintConfig, size: TreeSize, buckets: tuple[int, ...], *, starts: bool, device: str, force: bool
) -> None:
    """Report the size of a run, and refuse a run that may not fit into memory unless `force` is given."""
    lines = [f"{config.name}: {size.num_nodes:,} nodes, {size.num_ends:,} of them ends"]
    for street, number in enumerate(buckets):
        if size.pairs[street]:
            hands = "different hands" if config.cards == LOSSLESS else "buckets"
            row = f"  {STREETS[street]:8} {size.decisions[street]:14,} decisions {size.pairs[street]:14,} actions"
            lines.append(f"{row} {number:9,} {hands}")
    cells = sum(pairs * number for pairs, number in zip(size.pairs, buckets, strict=False))
    widths = (8, 8, 4) if config.exact else (4, 2 if config.num_snapshots else 4, 1)
    regrets, averages, rows = (cells * width for width in widths)
    tree = size.num_nodes * _TREE_NODE_BYTES + size.num_ends * (_TREE_END_BYTES + 4 * config.rules.num_seats)
    if config.algorithm == PUBLIC:
        number = 8 if config.exact else 4
        regrets = averages = number * cells
        rows = max(rows, number * cells if starts else 0)  # the strategy of the start, and later the finished one
        if device == CPU:
            # Hands, ranges and values of both seats at the root of each round, which has two decisions or more.
            tree += num_hands(config.rules) * (2 * number + 4) * sum(size.decisions)
        else:
            regrets *= 2  # and the current strategy
            # For each hand at a node: ranges and values of both seats, and the strategy. For each hand and bucket of a
            # street: whether the bucket holds the hand, as a number and as a truth value.
            tree += num_hands(config.rules) * (5 * number * size.num_nodes + (number + 1) * sum(buckets))
    needed = regrets + averages + rows + tree
    say("\n".join(lines))
    say(
        f"  {regrets / _GIB:,.1f} GiB of regrets, {averages / _GIB:,.1f} GiB of averages, "
        f"{rows / _GIB:,.1f} GiB of finished strategy, {tree / _GIB:,.1f} GiB of betting: "
        f"at most {needed / _GIB:,.1f} GiB, if all infosets are met"
    )
    available = available_bytes()
    if needed > available and not force:
        raise ValueError(
            f"{config.name} may need {needed / _GIB:,.0f} GiB of memory, {available / _GIB:,.0f} GiB are free; take a "
            f"smaller preset, fewer bet sizes or --force{_hours_text(config) if config.algorithm == EXTERNAL else ''}"
        )


def _hours_text(config: BlueprintConfig) -> str:
    """Return in words how long external sampling would take if its iterations were as fast as those of a small game.

    The small game has as many seats as the run's game. Its speed is measured here, on this processor.
    """
    threads = num_processors()
    menu = MenuConfig(("1p allin", "allin"), flop=("1p allin", "allin"), multiway={"flop": ("allin",)})
    small = BlueprintConfig("trial", 10**9, seats=config.rules.num_seats, menu=menu)
    warmup(TRAINING)
    with interrupts_held():
        rate = _rate(make_trainer(small, single_buckets(small.rules), threads=threads))
    hours = config.iterations / rate / 3600
    return (
        f" ({config.iterations:,} iterations take {hours:,.0f} hours at {rate:,.0f} a second, the speed just measured "
        f"in a small game with as many seats, on {threads} threads)"
    )


def _fit(
    config: BlueprintConfig, cards: CardBuckets, minutes: float, start: Blueprint | None, *, threads: int, device: str
) -> BlueprintConfig:
    """Return the configuration with as many iterations as a trial predicts for the given time.

    The trial updates the averages, as most of a run does, and begins with the strategy that the run begins with.
    """
    with interrupts_held():
        trainer = make_trainer(dataclasses.replace(config, average_from=0.0), cards, threads=threads, device=device)
        if start is not None:
            start_trainer(trainer, config, start)
        rate = _rate(trainer)
    return dataclasses.replace(config, iterations=max(1, round(60.0 * minutes * rate)))


def _rate(trainer: Trainer | PublicTrainer) -> float:
    """Return the iterations per second of a trial of about `_CALIBRATION_S` seconds.

    The trial ends earlier if it reaches the end of the schedule. Only the trial's second half counts, because the first
    accesses to a bucket table are slow.
    """
    trainer.run(1)
    begin = time.perf_counter()
    piece, marks = 1, [(trainer.iteration, begin)]
    while (seconds := marks[-1][1] - begin) < _CALIBRATION_S or len(marks) < 5:
        trainer.run(piece)
        marks.append((trainer.iteration, time.perf_counter()))
        if trainer.iteration == trainer.schedule.iterations:
            break
        if seconds < _CALIBRATION_S / 10:
            piece *= 2
    half = next(mark for mark in marks if mark[1] - begin >= 0.5 * (marks[-1][1] - begin) or mark is marks[-2])
    return (marks[-1][0] - half[0]) / max(marks[-1][1] - half[1], 1e-9)


def _run_folder(text: str) -> Path:
    """Return the folder of a run, given its path or its name in the user's data."""
    named = blueprints_folder() / text
    return named if Path(text).name == text and not Path(text).exists() and named.exists() else Path(text)


def _threads(options: argparse.Namespace) -> int:
    if options.threads is not None and not 1 <= options.threads <= 1024:
        raise ValueError(f"threads are 1 to 1,024, got {options.threads}")
    return options.threads or num_processors()


def _check_checkpoints(options: argparse.Namespace) -> None:
    if not 0.0 < options.checkpoint_minutes <= _MAX_MINUTES:
        raise ValueError(
            f"checkpoint-minutes must be above 0 and at most {_MAX_MINUTES:,.0f}, got {options.checkpoint_minutes}"
        )


def _where(run: TrainingRun) -> str:
    """Return in words what trains."""
    threads = run.trainer.threads
    return f"{threads} thread{'s' * (threads > 1)}" if run.trainer.device == CPU else run.trainer.device


def _minutes(given: float | None) -> float:
    """Return the minutes given by --minutes; infinity without that option."""
    if given is None:
        return math.inf
    if not 0.0 <= given <= _MAX_MINUTES:
        raise ValueError(f"minutes are 0 to {_MAX_MINUTES:,.0f}, got {given}")
    return given
