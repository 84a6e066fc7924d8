"""A few solved situations of Leduc poker, and small networks that are quickly trained with them."""

from plurispiel.agents.values.data_set import DataConfig, sample
from plurispiel.agents.values.solved_situation import solve_exactly
from plurispiel.agents.values.training import TrainingConfig
from plurispiel.agents.values.training_run import make_net

CONFIG = DataConfig("leduc", 1)
TRAINING = TrainingConfig(layers=2, width=16, epochs=4, batch=16)


def sample_leduc(folder, train=40, unseen=20):
    sample(folder, CONFIG, {"train": train, "unseen": unseen}, solve_exactly)
    return folder


def leduc_net(data, out):
    return make_net(data, out, TRAINING)
