# SPDX-License-Identifier: Apache-2.0
"""Makes samples/small/sglang*: two ops of a linear layer's forward, as SGLang's dumpers write them, by
one rank and by two that share the layer (column parallel, then the rows' sum).

    python samples/make_dumps.py [FOLDER]      (torch)
"""
import os
import shutil
import sys

import torch

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "small")


def values(ranks):
    """What each rank holds: name, layer, dims, tensor."""
    torch.manual_seed(5)
    x, up, down = torch.randn(3, 4), torch.randn(4, 6), torch.randn(6, 4)
    for rank in range(ranks):
        width = 6 // ranks
        own = slice(rank * width, (rank + 1) * width)
        y = x @ up
        yield rank, [
            ("tokens", None, "t # tp:replicated", torch.arange(3)),
            ("mlp.up", 0, "t f[tp]", y[:, own].contiguous()),
            ("mlp.down", 0, "t h # tp:replicated", y @ down),
        ]


def parallel_info(rank, ranks):
    axes = ["tp", "attn_tp", "moe_tp"]
    info = {f"{axis}_{what}": value for axis in axes for what, value in (("rank", rank), ("size", ranks))}
    return {**info, "pp_rank": 0, "pp_size": 1}


def dump(folder, ranks):
    """One file a tensor, sglang/srt/debug_utils/dumper.py."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for rank, tensors in values(ranks):
        for index, (name, layer, dims, value) in enumerate(tensors, 1):
            tags = {"step": 0, "rank": rank, "dump_index": index, "name": name,
                    "recompute_status": "disabled"}
            if layer is not None:
                tags["layer_id"] = layer
            meta = {**tags, "world_rank": rank, "world_size": ranks,
                    "sglang_parallel_info": parallel_info(rank, ranks), "dims": dims}
            file = "___".join(f"{tag}={text}" for tag, text in tags.items()) + ".pt"
            torch.save({"value": value, "meta": meta}, os.path.join(folder, file))


def dump_passes(folder, ranks):
    """One file a forward pass, tensor_dump_forward_hook.py."""
    shutil.rmtree(folder, ignore_errors=True)
    for rank, tensors in values(ranks):
        own = os.path.join(folder, f"TP{rank}_PP0_Rank{rank}_pid{4000 + rank}")
        os.makedirs(own)
        named = {name if layer is None else f"model.layers.{layer}.{name}": value
                 for name, layer, _, value in tensors}
        torch.save(named, os.path.join(own, "Pass00000.pt"))


dump(os.path.join(FOLDER, "sglang-whole"), 1)
dump(os.path.join(FOLDER, "sglang"), 2)
dump_passes(os.path.join(FOLDER, "sglang-pass-whole"), 1)
dump_passes(os.path.join(FOLDER, "sglang-pass"), 2)
