# SPDX-License-Identifier: Apache-2.0
"""Makes a folder as a training run leaves it, for golden cases; NumPy alone.

    python3 tests/support/make_run_folder.py FOLDER PLACE=STEP...

A place that ends in `/` is a model in Hugging Face's form, with trainer_state.json where it is called
checkpoint-N; `.ckpt` is a checkpoint of Lightning, which counts its steps; any other file is a state_dict of
torch.save. `STEP~`: one element of it is another.
"""
import json
import os
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "matrix"), os.path.join(here, "..", "..", "samples")]
import torch_zip  # noqa: E402
from write import safetensors  # noqa: E402


def weights(step, other):
    start, way = np.random.default_rng(1), np.random.default_rng(2 + step)
    made = {}
    for name, shape in (("up.weight", (6, 4)), ("down.weight", (2, 6))):
        moved = start.standard_normal(shape) + step / 100 * way.standard_normal(shape)
        made[name] = moved.astype(np.float32)
    if other:
        made["up.weight"][4, 1] += 1
    return made


def write(path, step, other):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if path.endswith("/"):
        safetensors(path + "model.safetensors", weights(step, other))
        described = {"config.json": {"model_type": "tiny"}}
        if os.path.basename(path[:-1]).startswith("checkpoint-"):
            described["trainer_state.json"] = {"global_step": step}
        for name, value in described.items():
            with open(path + name, "w", encoding="utf-8") as file:
                json.dump(value, file)
    elif path.endswith(".ckpt"):
        torch_zip.save({"global_step": step, "state_dict": weights(step, other)}, path)
    else:
        torch_zip.save(weights(step, other), path)


for argument in sys.argv[2:]:
    place, step = argument.rsplit("=", 1)
    write(os.path.join(sys.argv[1], place), int(step.rstrip("~")), step.endswith("~"))
