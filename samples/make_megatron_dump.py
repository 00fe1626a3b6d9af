# SPDX-License-Identifier: Apache-2.0
"""Makes samples/small/megatron-dump*: gradients and activations of a two-layer MLP as Megatron-LM
saves them (--save-wgrads-interval and the like), by one rank and by two pipeline stages of two tensor
parallel ranks each (fc1 cut by rows, gate and up apart; fc2 by columns).

    python samples/make_megatron_dump.py [FOLDER]      (torch)
"""
import os
import shutil
import sys

import torch

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "small")
HIDDEN, FFN, LAYERS, STEPS = 4, 6, 2, (1, 2)


def whole(step):
    """Kind -> name -> tensor, of the whole model."""
    torch.manual_seed(step)
    wgrads = {"embedding.word_embeddings.weight": torch.randn(8, HIDDEN)}
    acts, dgrads = {"embedding/output0": torch.randn(3, 1, HIDDEN)}, {}
    for layer in range(LAYERS):
        mlp = f"decoder.layers.{layer}.mlp"
        wgrads[f"{mlp}.linear_fc1.layer_norm_weight"] = torch.randn(HIDDEN)
        wgrads[f"{mlp}.linear_fc1.weight"] = torch.randn(2 * FFN, HIDDEN)
        wgrads[f"{mlp}.linear_fc2.weight"] = torch.randn(HIDDEN, FFN)
        for name, width in (("linear_fc1/input0", HIDDEN), ("linear_fc2/output0", HIDDEN)):
            acts[f"{mlp}.{name}"] = torch.randn(3, 1, width)
            dgrads[f"{mlp}.{name}"] = torch.randn(3, 1, width)
    wgrads["decoder.final_layernorm.weight"] = torch.randn(HIDDEN)
    return {"wgrads": wgrads, "activations": acts, "dgrads": dgrads}


def part(name, tensor, tp, ranks):
    """What tensor parallel rank `tp` holds of it."""
    if "linear_fc1.weight" in name:
        gate, up = tensor.chunk(2)
        return torch.cat([gate.chunk(ranks)[tp], up.chunk(ranks)[tp]])
    if "linear_fc2.weight" in name:
        return tensor.chunk(ranks, dim=1)[tp].contiguous()
    if "word_embeddings" in name:
        return tensor.chunk(ranks)[tp].contiguous()
    return tensor


def stage_of(name, stages):
    if "layers." in name:
        return int(name.split("layers.")[1].split(".")[0]) * stages // LAYERS
    return 0 if name.startswith("embedding") else stages - 1


def local(name, stages):
    if "layers." not in name:
        return name
    head, rest = name.split("layers.")
    number, tail = rest.split(".", 1)
    return f"{head}layers.{int(number) % (LAYERS // stages)}.{tail}"


def dump(folder, ranks, stages):
    shutil.rmtree(folder, ignore_errors=True)
    for step in STEPS:
        for kind, tensors in whole(step).items():
            own = os.path.join(folder, kind, f"iter_{step:07d}")
            os.makedirs(own)
            for tp in range(ranks):
                for pp in range(stages):
                    chunk = {local(name, stages): part(name, tensor, tp, ranks)
                             for name, tensor in tensors.items() if stage_of(name, stages) == pp}
                    file = f"mp_rank_{tp:02d}" + (f"_{pp:03d}" if stages > 1 else "") + ".pth"
                    torch.save({"model_chunk0": chunk}, os.path.join(own, file))


dump(os.path.join(FOLDER, "megatron-dump-whole"), 1, 1)
dump(os.path.join(FOLDER, "megatron-dump"), 2, 2)
