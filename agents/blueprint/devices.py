"""Where a blueprint is trained: on the processor or on an NVIDIA GPU."""

from plurispiel.agents.blueprint import cuda_trainer, public_trainer
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.config import PUBLIC, BlueprintConfig
from plurispiel.agents.blueprint.public_trainer import PublicTrainer
from plurispiel.agents.blueprint.trainer import Trainer

CPU, CUDA = "cpu", "cuda"
DEVICES = (CPU, CUDA)


def require_device(device: str, config: BlueprintConfig) -> None:
    """Raise ValueError if a device is none of `DEVICES`, or lacks here what the configuration's algorithm needs."""
    if device not in DEVICES:
        raise ValueError(f"a device is {' or '.join(DEVICES)}, got {device!r}")
    if device == CUDA and config.algorithm == PUBLIC:
        public_trainer.import_tables()
    elif device == CUDA:
        cuda_trainer.require_whole_chips(config.exact)
        cuda_trainer.import_cupy()


def make_trainer(
    config: BlueprintConfig, cards: CardBuckets, *, threads: int = 1, device: str = CPU
) -> Trainer | PublicTrainer:
    """Return the trainer of a configuration.

    Parameters
    ----------
    threads : int
        See `Trainer`, `PublicTrainer`, and for ``cuda`` `cuda_trainer.CudaTrainer`.
    device : str
        One of `DEVICES`.

    Raises
    ------
    ValueError
        If the betting tree is too large, or a street with decisions has no buckets. Also if the device is not available
        here, or is ``cuda`` while external sampling is asked for exact regrets.
    """
    require_device(device, config)
    if config.algorithm == PUBLIC:
        return PublicTrainer(
            config.rules,
            config.game_menu,
            cards,
            config.schedule,
            seed=config.seed,
            threads=threads,
            device=device,
            exact=config.exact,
        )
    return external_trainer(config, cards, threads=threads, device=device)


def external_trainer(config: BlueprintConfig, cards: CardBuckets, *, threads: int = 1, device: str = CPU) -> Trainer:
    """Return the trainer of a configuration by external sampling; parameters and errors as for `make_trainer`."""
    return (cuda_trainer.CudaTrainer if device == CUDA else Trainer)(
        config.rules,
        config.game_menu,
        cards,
        config.schedule,
        seed=config.seed,
        threads=threads,
        exact=config.exact,
        prune_below=config.prune_below(cards.num_buckets[0]),
        average_all=config.exact,
    )
