# SPDX-License-Identifier: Apache-2.0
"""Makes samples/ensemble: three groups of five runs of one small model, as weights.

    python samples/make_ensemble.py [FOLDER]      (NumPy)

Runs of a group differ by noise that grows tenfold from layer to layer, layer 0 by none. Group b is as group a; in group c
layers 2 and 3 are three noise levels away, in one direction.
"""
import os
import sys

import numpy as np

from write import safetensors

LAYERS, RUNS, SHAPE = 4, 5, (4, 8)


def main(root):
    os.makedirs(root, exist_ok=True)
    rng = np.random.default_rng(5)
    base = [rng.standard_normal(SHAPE) for _ in range(LAYERS)]
    direction = [rng.standard_normal(SHAPE) for _ in range(LAYERS)]
    for group in "abc":
        for run in range(RUNS):
            tensors = {}
            for layer in range(LAYERS):
                noise = 0 if layer == 0 else 1e-6 * 10 ** layer
                values = base[layer] + noise * rng.standard_normal(SHAPE)
                if group == "c" and layer >= 2:
                    values += 3 * noise * direction[layer]
                tensors[f"layers.{layer}.weight"] = values.astype("<f4")
            safetensors(os.path.join(root, f"{group}{run}.safetensors"), tensors)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "ensemble"))
