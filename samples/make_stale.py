# SPDX-License-Identifier: Apache-2.0
"""Makes samples/stale: two steps of a trace in which one record of the second still holds what it held in the first.

    python samples/make_stale.py [FOLDER]      (numpy)
"""
import json
import os
import sys

import numpy as np

from write import safetensors

RNG = np.random.default_rng(106)


def run(folder, steps):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump({"ttcheck_trace": 1, "world_size": 1, "mesh": {}, "ranks": [{}]}, file)
    for step, records in enumerate(steps, 1):
        meta, arrays = {"ttcheck_trace": "1"}, {}
        for seq, (phase, name, array) in enumerate(records):
            module, slot = name.rsplit("/", 1)
            kind, slot = slot.split(".")
            key = f"{seq:05d}/{name}"
            meta[key] = json.dumps({"seq": seq, "phase": phase, "module": module, "kind": kind, "slot": slot})
            arrays[key] = array
        safetensors(os.path.join(folder, f"step-{step:06d}", "rank-00000.safetensors"), arrays, meta)


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "stale")
    weight = RNG.standard_normal((6, 6)).astype(np.float32)
    steps = []
    for _ in range(2):
        x = RNG.standard_normal((4, 6)).astype(np.float32)
        steps.append([("state", "proj/param.weight", weight), ("forward", "embedding/output.0", x),
                      ("forward", "proj/output.0", x @ weight.T), ("forward", "head/output.0", np.tanh(x @ weight.T))])
    run(os.path.join(target, "reference"), steps)
    late = [steps[0], [*steps[1][:2], ("forward", "proj/output.0", steps[0][2][2]), ("forward", "head/output.0", steps[0][3][2])]]
    run(os.path.join(target, "candidate"), late)
