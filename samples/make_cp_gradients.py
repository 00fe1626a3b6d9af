# SPDX-License-Identifier: Apache-2.0
"""Makes samples/cp-gradients: a trace whose errors are those of a real bug, and the limits that show it.

    python samples/make_cp_gradients.py [FOLDER]      (NumPy)

BF16, 24 layers of GPT, context parallel: the backward of attention was wrong (NVIDIA/Megatron-LM#1464). Only the relative errors were published; the tensors here are random and have them.
Each record names what it was made from, as far as the list goes.
"""
import json
import os
import sys

import numpy as np

from write import safetensors

STEP = 1
EPS = 2.0 ** -7  # bf16, though the gradients were dumped as fp32
CORE, QKV = "layers.23.self_attention.core_attention", "layers.23.self_attention.linear_qkv"
# module, kind and slot, phase, published relative error, made from
RECORDS = [
    ("layers.23", "grad_output.0", "backward", 3.24e-3, []),
    ("layers.23.mlp.linear_fc1", "grad_output.0", "backward", 9.12e-3, ["layers.23/grad_output.0"]),
    (CORE, "grad_output.0", "backward", 4.52e-3, ["layers.23.mlp.linear_fc1/grad_output.0"]),
    (CORE, "grad_input.0", "backward", 1.14, [f"{CORE}/grad_output.0"]),
    (CORE, "grad_input.1", "backward", 6.41e-1, [f"{CORE}/grad_output.0"]),
    (CORE, "grad_input.2", "backward", 6.97e-1, [f"{CORE}/grad_output.0"]),
    (QKV, "grad_output.0", "backward", 7.08e-1, [f"{CORE}/grad_input.{i}" for i in range(3)]),
    ("layers.23.input_layernorm", "grad_input.0", "backward", 6.78e-1, [f"{QKV}/grad_output.0"]),
    ("layers.22", "grad_output.0", "backward", 2.26e-2,
     ["layers.23/grad_output.0", "layers.23.input_layernorm/grad_input.0"]),
    ("layers.22.mlp.linear_fc1", "grad_output.0", "backward", 2.44e-2, ["layers.22/grad_output.0"]),
    ("layers.0.self_attention.linear_qkv", "main_grad.weight", "sync", 1.50,
     ["backward:layers.22.mlp.linear_fc1/grad_output.0"]),
    ("embedding.position_embeddings", "main_grad.weight", "sync", 2.31,
     ["backward:layers.22.mlp.linear_fc1/grad_output.0"]),
]
# What correct runs of it are apart, in eps: as much as the records before the bug.
CLEAN = [("layers.*", 0.4), ("layers.*.input_layernorm", 0.4), ("layers.*.mlp.linear_fc1", 1.2),
         ("layers.*.self_attention.*", 0.6), ("**/main_grad.*", 1.2)]


def write(folder, tensors):
    step = os.path.join(folder, f"step-{STEP:06}")
    os.makedirs(step, exist_ok=True)
    with open(os.path.join(folder, "run.json"), "w") as file:
        json.dump({"ttcheck_trace": 1, "world_size": 1, "mesh": {}, "ranks": [{}],
                   "model": {"layers": 24}, "precision": {"compute": "bfloat16"}}, file, indent=1)
    arrays, records = {}, {"ttcheck_trace": "1"}
    for seq, ((module, kind, phase, _, inputs), values) in enumerate(zip(RECORDS, tensors)):
        key = f"{seq:04}/{module}/{kind}"
        name, _, slot = kind.partition(".")
        records[key] = json.dumps({"seq": seq, "phase": phase, "module": module, "kind": name, "slot": slot,
                                   "inputs": inputs})
        arrays[key] = values
    safetensors(os.path.join(step, "rank-00000.safetensors"), arrays, records)


def main(root):
    rng = np.random.default_rng(1464)
    reference = [rng.standard_normal((8, 16)) for _ in RECORDS]
    candidate = []
    for values, (_, _, _, error, _) in zip(reference, RECORDS):
        change = rng.standard_normal(values.shape)
        candidate.append(values + change * error * np.linalg.norm(values) / np.linalg.norm(change))
    write(os.path.join(root, "reference"), [a.astype("<f4") for a in reference])
    write(os.path.join(root, "candidate"), [b.astype("<f4") for b in candidate])
    with open(os.path.join(root, "..", "limits", "cp-gradients.toml"), "w") as file:
        file.write("# Limits of samples/cp-gradients: eps is bf16's, which the gradients were computed in.\n"
                   "limits = 1\nm = 5\nm0 = 4\n")
        for match, times in CLEAN:
            file.write(f'\n[[tensor]]\nmatch = "{match}"\nd = {times * EPS:.3g}\neps = {EPS}\n')


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "cp-gradients"))
