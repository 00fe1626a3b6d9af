# SPDX-License-Identifier: Apache-2.0
"""Makes samples/trace: one small model trained for one step, whole and tensor-parallel over 2 ranks.

    python samples/make_traces.py [FOLDER]      (torch, safetensors, h5py)
"""
import os
import shutil
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "collector")]
from model import FFN, HEADS, HIDDEN, LAYERS, VOCAB, Model, initial, shard_dim, slice_of  # noqa: E402
from ttcheck_trace import Trace  # noqa: E402

STEP = 12


def dims():
    rules = {f"*.{name}/{kind}.0": "b s h" for name in ("o_proj", "down_proj")
             for kind in ("output", "grad_output")}
    rules.update({f"*.{name}/input.0": "b s x[tp]" for name in ("o_proj", "down_proj")})
    for kind in ("output", "grad_output"):
        rules[f"*_proj/{kind}.0"] = "b s x[tp]"
        rules[f"*.act_fn/{kind}.0"] = "b s f[tp]"
    for kind in ("param", "grad", "main_grad"):
        rules[f"embed_tokens/{kind}.weight"] = f"v[tp:pad={VOCAB}] h"
        for name, _ in Model().named_parameters():
            module = name.rpartition(".")[0]
            if shard_dim(name) is not None:
                rules.setdefault(f"{module}/{kind}.weight", "x[tp] y" if shard_dim(name) == 0
                                 else "x y[tp]")
    return rules


def perturb(module, inputs, output):
    """one round-off up or down, element by element"""
    signs = torch.randint(0, 2, output.shape, generator=torch.Generator().manual_seed(11)) * 2 - 1
    return output * (1 + torch.finfo(torch.float32).eps * signs)


def run(rank, folder, tp, encoding, swapped_layer, perturbed=False):
    torch.set_num_threads(1)
    if tp > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29531")
        dist.init_process_group("gloo", rank=rank, world_size=tp)
    model = Model(tp, rank, swapped_layer if rank == 1 else None)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(slice_of(name, initial()[name], tp, rank))
    generator = torch.Generator().manual_seed(7)
    tokens = torch.randint(0, VOCAB, (2, 8), generator=generator)
    labels = torch.randint(0, VOCAB, (2, 8), generator=generator)
    facts = {"run": os.path.basename(folder), "seed": 1234,
             "model": {"layers": LAYERS, "hidden": HIDDEN, "heads": HEADS, "head_dim": HIDDEN // HEADS,
                       "ffn": FFN, "vocab": VOCAB, "tied_embeddings": False},
             "precision": {"compute": "float32", "params": "float32", "grads": "float32"},
             "optimizer": {"name": "sgd", "lr": 0.1}}
    if perturbed:
        facts.update(role="perturbed",
                     perturbation={"where": "embed_tokens/output.0", "relative": 2.0 ** -23})
        model.embed_tokens.register_forward_hook(perturb)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    trace = Trace(folder, model, optimizer, place={"tp": (rank, tp)} if tp > 1 else {}, facts=facts, encoding=encoding,
                  dims=dims() if tp > 1 else {})
    with trace, trace.step(STEP):
        logits = model(tokens)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())
        loss.backward()
        optimizer.step()
    if tp > 1:
        dist.destroy_process_group()


def make(folder, tp=1, encoding="safetensors", swapped_layer=None, perturbed=False):
    shutil.rmtree(folder, ignore_errors=True)
    if tp == 1:
        run(0, folder, 1, encoding, None, perturbed)
    else:
        mp.spawn(run, (folder, tp, encoding, swapped_layer), nprocs=tp)


if __name__ == "__main__":
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "trace")
    make(os.path.join(root, "reference"))
    make(os.path.join(root, "reference-h5"), encoding="h5")
    make(os.path.join(root, "perturbed"), perturbed=True)
    make(os.path.join(root, "tp2"), tp=2)
    make(os.path.join(root, "tp2-swapped"), tp=2, swapped_layer=1)
