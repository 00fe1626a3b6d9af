# SPDX-License-Identifier: Apache-2.0
"""Makes samples/small/hf-debug*: one forward pass of a tiny model under transformers' model debugger,
values printed (hf-debug), printed in part (hf-debug-part) and in files (hf-debug-saved); the model
with another eps (-eps) and its layer computed in another order (-order).

    python samples/make_hf_debug.py [FOLDER]      (torch, transformers)
"""
import os
import shutil
import sys

import torch
from transformers.model_debugging_utils import model_addition_debugger_context

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "small")


class Layer(torch.nn.Module):
    def __init__(self, eps, reverse):
        super().__init__()
        self.norm = torch.nn.RMSNorm(4, eps=eps)
        self.up = torch.nn.Linear(4, 6, bias=False)
        self.down = torch.nn.Linear(6, 4, bias=False)
        self.reverse = reverse

    def forward(self, hidden, scale):
        up = self.up(self.norm(hidden)).relu()
        if self.reverse:  # the same sum, from its other end
            back = torch.nn.functional.linear(up.flip(-1), self.down.weight.flip(-1))
            return hidden + scale * back + 0 * self.down(up)
        return hidden + scale * self.down(up)


class Tiny(torch.nn.Module):
    def __init__(self, eps, reverse):
        super().__init__()
        self.embed = torch.nn.Embedding(11, 4)
        self.layers = torch.nn.ModuleList([Layer(eps, reverse)])
        self.head = torch.nn.Linear(4, 11, bias=False)

    def forward(self, tokens, use_cache):
        return self.head(self.layers[0](self.embed(tokens), scale=0.5))


def dump(name, printed, eps=1e-6, reverse=False, threshold=1000):
    folder = os.path.join(FOLDER, name)
    shutil.rmtree(folder, ignore_errors=True)
    torch.set_printoptions(threshold=threshold)
    torch.manual_seed(5)
    model = Tiny(eps, reverse).eval()
    tokens = torch.tensor([[3, 1, 4, 10, 5, 9, 2]])
    with torch.no_grad(), model_addition_debugger_context(model, debug_path=folder, use_repr=printed):
        model(tokens, use_cache=False)


dump("hf-debug", printed=True)
dump("hf-debug-order", printed=True, reverse=True)
dump("hf-debug-eps", printed=True, eps=0.1)
dump("hf-debug-part", printed=True, threshold=20)
dump("hf-debug-part-eps", printed=True, threshold=20, eps=0.1)
dump("hf-debug-saved", printed=False)
