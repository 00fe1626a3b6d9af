# SPDX-License-Identifier: Apache-2.0
"""Makes samples/small/te-dump*: what TransformerEngine's debug feature DumpTensors writes of one linear
layer, one rank, two iterations; with a wrong gradient in te-dump-wrong.

    python samples/make_te_dump.py [FOLDER]      (torch)
"""
import os
import shutil
import sys

import torch

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "small")
LAYER = "decoder_layers_0_mlp_fc1"  # dots and slashes of its name are underscores


def dump(folder, wrong):
    shutil.rmtree(folder, ignore_errors=True)
    for step in (1, 2):
        torch.manual_seed(step)
        own = os.path.join(folder, "tensor_dumps", "rank_0", f"iter_{step:06d}")
        os.makedirs(own)
        x, w, g = torch.randn(3, 4), torch.randn(5, 4), torch.randn(3, 5)
        tensors = {"activation": x, "weight": w, "output": x @ w.T, "gradient": g,
                   "dgrad": g @ w, "wgrad": g.T @ x * (0.5 if wrong and step == 2 else 1)}
        for name, tensor in tensors.items():
            torch.save({"high_precision": tensor, "quantized": None},
                       os.path.join(own, f"{LAYER}_{name}.pt"))


dump(os.path.join(FOLDER, "te-dump"), wrong=False)
dump(os.path.join(FOLDER, "te-dump-wrong"), wrong=True)
