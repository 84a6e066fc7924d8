"""`plurispiel values`: solve situations, train value networks on them, distil networks from others, measure both."""

import argparse
import contextlib
import dataclasses
import functools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.abstraction.machine.versions import MAX_WORKERS
from plurispiel.agents.values.bundled import find_net
from plurispiel.agents.values.data_set import DataConfig, data_config, load_accuracy, load_situations
from plurispiel.agents.values.distillation import distil
from plurispiel.agents.values.drawn_situation import draw_situation
from plurispiel.agents.values.floor import encoding_floor
from plurispiel.agents.values.levels import Level, find_level
from plurispiel.agents.values.net_file import StoredNet, load_net, net_digest
from plurispiel.agents.values.presets import find_preset
from plurispiel.agents.values.solved_situation import solve_exactly
from plurispiel.agents.values.training import NetTrainer, TrainingConfig
from plurispiel.agents.values.training_run import checkpoint_folder, make_net
from plurispiel.agents.values.validation import compare, measure
from plurispiel.tournaments.commands.connection import labour_of
from plurispiel.tournaments.commands.exit_codes import INTERRUPTED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.figures.picture import MatplotlibMissing
from plurispiel.tournaments.figures.value_net_picture import draw_net
from plurispiel.tournaments.figures.value_net_text import errors_text, net_record, net_text
from plurispiel.tournaments.run.folder_lock import locked
from plurispiel.tournaments.run.kernels import warmup
from plurispiel.tournaments.run.value_chain import find_chain, train_chain
from plurispiel.tournaments.run.value_data import solve_situations

_TRAINING = ("abstraction.holdem.showdown", "agents.continual.end_net_leaves")
_MAX_COUNT = 100_000_000


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if options.action is None:
        raise ValueError(
            "give an action: sample, train, distil, train-all, info, compare or floor (plurispiel values --help tells "
            "more)"
        )
    actions = {
        "sample": _sample,
        "train": _train,
        "distil": _distil,
        "train-all": _train_all,
        "info": _info,
        "compare": _compare,
        "floor": _floor,
    }
    for name, value in vars(options).items():
        if value == "":
            raise ValueError(f"{name} is an empty text; give a value, or leave the option out")
    try:
        return actions[options.action](options)
    except KeyboardInterrupt:
        say("interrupted; to continue, give the same command again")
        return INTERRUPTED


def _sample(options: argparse.Namespace) -> int:
    level, folder = find_level(options.level, options.menu), Path(options.out)
    options.situations = _settings(options, ("situations",))["situations"]
    _require_count("situations", options.situations, 0)
    _require_count("unseen", options.unseen)
    if not 0 <= options.workers <= MAX_WORKERS:
        raise ValueError(f"workers must be 0 to {MAX_WORKERS:,}, got {options.workers}")
    if options.seed < 0:
        raise ValueError(f"seed must be 0 or more, got {options.seed}")
    teacher = _teacher(options, level)
    if teacher is None:
        undisturbed(functools.partial(solve_exactly, level, draw_situation(level, options.seed, "train", 0)))
    else:
        warmup(_TRAINING)
    counts = {"unseen": options.unseen, "train": options.situations}
    say(f"{level.name}: {options.situations:,} situations and {options.unseen:,} unseen ones, seed {options.seed}")
    with (
        locked(folder),
        labour_of(options) as labour,
        progress_bar(total=sum(counts.values()), unit=" situations") as progress,
    ):

        def show(split: str) -> None:
            progress.update()

        workers = options.workers or num_processors()
        config = DataConfig(level.name, options.seed, level.menu, None if teacher is None else net_digest(teacher))
        solve_situations(folder, config, counts, workers, show, teacher, labour=labour)
    record = {"folder": str(folder), "level": level.name, "seed": options.seed}
    for split in counts:
        slack, iterations = load_accuracy(folder, split)
        if not len(slack):
            continue
        record[split] = {
            "situations": len(slack),
            "slack": float(slack.mean()),
            "worst_slack": float(slack.max()),
            "iterations": float(iterations.mean()),
        }
    if options.json:
        print(json.dumps(record))
        return 0
    for split in counts:
        if split not in record:
            continue
        facts = record[split]
        print(
            f"{split}: {facts['situations']:,} situations, {facts['iterations']:.0f} iterations on average, "
            f"exploitability {100 * facts['slack']:.3f} % of the pot, at most {100 * facts['worst_slack']:.2f} %"
        )
    return 0


def _train(options: argparse.Namespace) -> int:
    config = _config(options)
    if options.situations is not None:
        _require_count("situations", options.situations)
    warmup(_TRAINING)
    out = Path(options.out)
    with locked(checkpoint_folder(out), out), _epochs(2 * config.epochs) as show:
        net = make_net(
            Path(options.data),
            out,
            config,
            situations=options.situations,
            num_bins=options.bins,
            on_epoch=show,
        )
    _show(options, net)
    return 0


def _distil(options: argparse.Namespace) -> int:
    for name in ("situations", "unseen", "boards"):
        _require_count(name, getattr(options, name))
    config = _config(options, loss="squared")
    warmup(_TRAINING)
    out = Path(options.out)
    with locked(checkpoint_folder(out), out), _epochs(config.epochs) as show:
        net = distil(
            find_net(options.net),
            out,
            config,
            situations=options.situations,
            unseen=options.unseen,
            num_boards=options.boards,
            on_epoch=show,
        )
    _show(options, net)
    return 0


def _train_all(options: argparse.Namespace) -> int:
    chain = find_chain(options.preset)
    for name in ("situations", "unseen"):
        if getattr(options, name) is not None:
            _require_count(name, getattr(options, name))
    if options.minutes is not None and not options.minutes > 0.0:
        raise ValueError(f"minutes must be above 0, got {options.minutes:g}")
    if not 0 <= options.workers <= MAX_WORKERS:
        raise ValueError(f"workers must be 0 to {MAX_WORKERS:,}, got {options.workers}")
    of_stage, of_chain = (
        {name: getattr(options, name) for name in names if getattr(options, name) is not None}
        for names in (("situations", "width"), ("epochs", "device"))
    )
    stages = tuple(stage._replace(**of_stage) for stage in chain.stages)
    chain = chain._replace(stages=stages, **of_chain)
    warmup(_TRAINING)
    total, folder = sum(stage.situations + options.unseen for stage in stages), Path(options.out)
    with locked(folder), progress_bar(total=total, unit=" situations") as progress:

        def show(split: str) -> None:
            progress.update()

        nets = train_chain(
            folder,
            chain,
            workers=options.workers or num_processors(),
            seed=options.seed,
            unseen=options.unseen,
            seconds=None if options.minutes is None else 60.0 * options.minutes,
            on_stage=lambda level: progress.set_postfix_str(level, refresh=False),
            on_solved=show,
        )
    texts = [net_text(net) for net in nets]
    print(json.dumps([net_record(net) for net in nets]) if options.json else "\n\n".join(texts))
    return 0


def _teacher(options: argparse.Namespace, level: Level) -> Path | None:
    """Return the folder of the network of `--teacher`; None if a level's situations are solved exactly.

    For a level at the end of a street, the network gives the values. For a level at the start of a street, it gives the
    values where solutions end.
    """
    wanted = level.teacher or level.end
    if options.teacher is None:
        if level.teacher is not None:
            raise ValueError(
                f"the values of {level.name} are those of a network for {level.teacher}: give it by --teacher NET, or "
                "train with fresh situations by plurispiel values distil NET --out DIR"
            )
        if level.street == 1 and level.end:
            raise ValueError(
                f"the level {level.name} is solved to the end of the street: give --teacher NET for {wanted}"
            )
        return None
    folder = find_net(options.teacher)
    found = load_net(folder).level
    if found.name != wanted:
        needed = f"needs a network for {wanted}" if wanted else "is solved exactly, without --teacher"
        raise ValueError(f"{level.name} {needed}, got one for {found.name}")
    if found.menu != level.menu:
        raise ValueError(
            f"the network {folder} is for the menu {found.menu}, not {level.menu}; give --menu {found.menu}, or "
            "another network"
        )
    return folder


def _info(options: argparse.Namespace) -> int:
    net = load_net(find_net(options.net))
    if options.data:
        net = _measured(net, Path(options.data))
    _show(options, net)
    if options.plot:
        sys.stdout.flush()
        if net.level.teacher is None:
            say("solving situations for the picture: about a minute on the turn, an hour or more on the flop")
        try:
            undisturbed(functools.partial(draw_net, Path(options.plot), net))
            say(f"drawn in {options.plot}")
        except MatplotlibMissing as error:
            say(f"no picture: {error}")
    return 0


def _measured(net: StoredNet, data: Path) -> StoredNet:
    """Return a network whose recorded errors are replaced by its errors on the unseen situations of a data set."""
    level = data_config(data).find_level()
    _require_same("the network is for", net.level, data, level)
    warmup(_TRAINING)
    found = measure(net.net, level, load_situations(data, "unseen"))
    return dataclasses.replace(net, record=net.record | {"validation": found})


def _compare(options: argparse.Namespace) -> int:
    exact, other = Path(options.data), Path(options.other)
    config, config_of_other = data_config(exact), data_config(other)
    level = config.find_level()
    _require_same(f"the situations in {exact} are of", level, other, config_of_other.find_level())
    if config.teacher is not None:
        raise ValueError(f"the values in {exact} are those of a network; give a folder with exact values first")
    if config_of_other.teacher is None:
        raise ValueError(
            f"the values in {other} are exact; give a folder that values sample --teacher has written second"
        )
    warmup(_TRAINING)
    situations, others = (load_situations(folder, "unseen") for folder in (exact, other))
    count = min(len(situations.pots), len(others.pots))
    found = compare(level, situations.first(count), others.first(count))
    print(json.dumps({"level": level.name} | found) if options.json else errors_text(found))
    return 0


def _floor(options: argparse.Namespace) -> int:
    folder = Path(options.data)
    if options.situations is not None:
        _require_count("situations", options.situations)
    level = data_config(folder).find_level()
    bins = _bins(options.bins, level.num_hands) if options.bins is not None else [level.num_bins or level.num_hands]
    warmup(_TRAINING)
    situations = load_situations(folder, "train", options.situations)
    floors = {}
    for number in progress_bar(bins, unit=" encodings"):
        floors[number] = encoding_floor(level, situations, number)
    if options.json:
        rows = [{"bins": number, "mae": floor} for number, floor in floors.items()]
        print(json.dumps({"level": level.name, "situations": len(situations.pots), "floors": rows}))
        return 0
    print(f"{level.name}, {len(situations.pots):,} situations: mean error that the bins leave")
    for number, floor in floors.items():
        print(f"{number:6,} bins {100 * floor:8.3f} % of the pot")
    return 0


def _require_same(what: str, wanted: Level, data: Path, found: Level) -> None:
    """Raise ValueError if situations are of another level, or have another menu."""
    if (found.name, found.menu) != (wanted.name, wanted.menu):
        raise ValueError(
            f"{what} the level {wanted.name} (menu {wanted.menu}), the situations in {data} are of {found.name} (menu "
            f"{found.menu})"
        )


def _show(options: argparse.Namespace, net: StoredNet) -> None:
    text = net_text(net)  # refuses a record without errors, whatever is printed
    print(json.dumps(net_record(net)) if options.json else text)


@contextlib.contextmanager
def _epochs(total: int) -> Iterator[Callable[[NetTrainer], None]]:
    """Yield a function that shows the progress of a training run after each epoch."""
    with progress_bar(total=total, unit=" epochs") as progress:

        def show(trainer: NetTrainer) -> None:
            progress.set_postfix_str(f"error {trainer.errors[-1]:.4g}", refresh=False)
            progress.update()

        yield show


def _settings(options: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """Return settings by name: the value of an option that is given, otherwise that of the preset."""
    preset = find_preset(options.preset)
    given = {name: getattr(options, name) for name in names}
    return {name: getattr(preset, name) if value is None else value for name, value in given.items()}


def _config(options: argparse.Namespace, loss: str = "huber") -> TrainingConfig:
    chosen = _settings(options, ("layers", "width", "epochs", "batch", "rate", "device"))
    return TrainingConfig(seed=options.seed, loss=loss, **chosen)


def _bins(text: str, most: int) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(2 <= number <= most for number in found):
        raise ValueError(f"bins are numbers from 2 to {most:,}, as in 2,{most}, got {text!r}")
    return found


def _require_count(name: str, count: int, least: int = 1) -> None:
    if not least <= count <= _MAX_COUNT:
        raise ValueError(f"{name} must be {least} to {_MAX_COUNT:,}, got {count}")
