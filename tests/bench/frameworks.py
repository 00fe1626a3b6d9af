# SPDX-License-Identifier: Apache-2.0
"""Large checkpoints as Megatron and DeepSpeed cut them, by the cutters of tests/matrix, with whole files to hold them against.

Each function yields (file, tensors) of the whole files `a` and `b` and writes the cut form of `b` into a folder; in `b` the last
bit of half of the elements differs, in two thirds of the tensors.
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "matrix"))
import deepspeed  # noqa: E402
import megatron  # noqa: E402
from model import Model  # noqa: E402

RANKS = 8


def sized(total, vocab):
    """A decoder whose fp32 weights come to about `total` bytes."""
    model = Model(groups=8, heads=32, head_dim=64, ffn=5632, vocab=vocab, layers=1)
    layer = 4 * model.hidden * (model.qkv_rows + model.hidden + 3 * model.ffn)
    model.layers = max(1, (total - 8 * vocab * model.hidden) // layer)
    return model


def changed(weights):
    random = np.random.default_rng(5)
    made = {}
    for i, (name, value) in enumerate(weights.items()):
        flips = random.integers(0, 2, value.shape, np.uint8) if i % 3 else 0
        made[name] = (value.view(np.uint32) ^ flips).view(np.float32)
    return made


def megatron_tp8(total, folder):
    """Whole files under Hugging Face's names."""
    model = sized(total, 32000)
    weights = model.weights()
    yield "a", model.hugging_face(weights)
    weights = changed(weights)
    yield "b", model.hugging_face(weights)
    megatron.write(model, weights, RANKS, 1, 1, str(folder))


def zero_3(total, folder):
    """Masters and both moments."""
    model = sized(total // 3, 8000)
    weights = model.hugging_face(model.weights())
    yield "a", deepspeed.twin(weights, 3)
    weights = changed(weights)
    yield "b", deepspeed.twin(weights, 3)
    deepspeed.write(weights, RANKS, 3, str(folder))
