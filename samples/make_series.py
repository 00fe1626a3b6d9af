# SPDX-License-Identifier: Apache-2.0
"""Makes samples/series: two runs of one small regression, a checkpoint every five steps. The second was
resumed after step 35 without the momentum of its first layer; NumPy alone.

    python samples/make_series.py [FOLDER]      (numpy)
"""
import os
import sys

import numpy as np

from write import safetensors

STEPS, EVERY, RESUMED = 60, 5, 35
RATE, MOMENTUM = np.float32(0.02), np.float32(0.9)


def train(folder, resumed):
    random = np.random.default_rng(35)
    make = lambda *shape: random.standard_normal(shape).astype(np.float32)
    model = {"up.weight": make(6, 4) / 2, "down.weight": make(2, 6) / 2}
    momentum = {name: np.zeros_like(array) for name, array in model.items()}
    inputs, target = make(16, 4), make(16, 2)
    for step in range(1, STEPS + 1):
        hidden = np.tanh(inputs @ model["up.weight"].T)
        error = (hidden @ model["down.weight"].T - target) / np.float32(len(inputs))
        back = (error @ model["down.weight"]) * (1 - hidden * hidden)
        for name, gradient in (("up.weight", back.T @ inputs), ("down.weight", error.T @ hidden)):
            momentum[name] = MOMENTUM * momentum[name] + gradient
            model[name] = model[name] - RATE * momentum[name]
        if resumed and step == RESUMED:
            momentum["up.weight"] = np.zeros_like(momentum["up.weight"])
        if step % EVERY == 0:
            safetensors(os.path.join(folder, f"step-{step}", "model.safetensors"), model)


if __name__ == "__main__":
    to = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "series")
    train(os.path.join(to, "uninterrupted"), False)
    train(os.path.join(to, "resumed"), True)
