# SPDX-License-Identifier: Apache-2.0
"""Makes samples/small/debugmode*: logs of torch's DebugMode of one training step of a tiny model, with
L1 norms and XOR hashes of what each operation took and gave; of a model with one operation more
(-extra), with a wrong scale (-wrong), of a forward pass alone (-forward), and with the block
recomputed on the way back (-recomputed).

    python samples/make_debugmode.py [FOLDER]      (torch 2.13)
"""
import os
import shutil
import sys

import torch
from torch.utils._debug_mode import DebugMode
from torch.utils.checkpoint import checkpoint

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "small")


class Block(torch.nn.Module):
    def __init__(self, scale, extra):
        super().__init__()
        self.up = torch.nn.Linear(4, 6, bias=False)
        self.down = torch.nn.Linear(6, 4, bias=False)
        self.scale, self.extra = scale, extra

    def forward(self, x):
        if self.extra:  # one more operation, of no effect
            x = x * 1.0
        return x + self.scale * self.down(self.up(x).relu())


class Tiny(torch.nn.Module):
    def __init__(self, scale, extra, recomputed):
        super().__init__()
        self.recomputed = recomputed
        self.embed = torch.nn.Embedding(11, 4)
        self.block = Block(scale, extra)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = checkpoint(self.block, x, use_reentrant=False) if self.recomputed else self.block(x)
        return x.square().mean()


def log(name, scale=0.5, extra=False, backward=True, recomputed=False, hash_fn=("norm", "hash_tensor"), ids=False):
    folder = os.path.join(FOLDER, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    torch.manual_seed(5)
    model = Tiny(scale, extra, recomputed)
    tokens = torch.tensor([[3, 1, 4, 10, 5]])
    with DebugMode(record_nn_module=True, record_ids=ids) as mode:
        with DebugMode.log_tensor_hashes(hash_fn=list(hash_fn), hash_inputs=True):
            loss = model(tokens)
            if backward:
                loss.backward()
    with open(os.path.join(folder, "rank-00000.txt"), "w") as file:
        file.write(mode.debug_string() + "\n")


log("debugmode")
log("debugmode-extra", extra=True, ids=True)
log("debugmode-wrong", scale=0.25)
log("debugmode-forward", backward=False)
log("debugmode-recomputed", recomputed=True)
