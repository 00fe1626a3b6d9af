# SPDX-License-Identifier: Apache-2.0
"""Makes samples/checkpoint and samples/small: one trained state in many files and layouts.

    python samples/make_checkpoints.py [FOLDER]      (torch, numpy, safetensors, h5py)
"""
import json
import os
import shutil
import sys

import h5py
import numpy as np
import torch
from safetensors.torch import save_file

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "collector")]
from model import FFN, HEADS, HIDDEN, LAYERS, VOCAB, Model, initial, shard_dim, slice_of  # noqa: E402
from ttcheck_trace import write_hdf5, write_safetensors  # noqa: E402

TP_LAYOUT = """\
layout = 1
base = "none"
[mesh]
axes = ["tp=2"]
[files]
pattern = "tp_{{tp}}.pt"
root = "model"
[model]
vocab = {vocab}
[[tensor]]
match = "embed_tokens.weight"
dims = "v[tp:pad=vocab] h"
[[tensor]]
match = "**.{{q_proj,k_proj,v_proj,gate_proj,up_proj}}.weight"
dims = "x[tp] h"
[[tensor]]
match = "**.{{o_proj,down_proj}}.weight"
dims = "h x[tp]"
[[tensor]]
match = "**"
dims = "*"
"""


def train(steps):
    """States after each step, and the optimizer at the end."""
    torch.manual_seed(0)
    model = Model()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(initial()[name])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(3)
    states = []
    for _ in range(steps):
        tokens = torch.randint(0, VOCAB, (4, 9), generator=generator)
        logits = model(tokens[:, :-1])
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
        states.append({hub_name(n): t.detach().clone() for n, t in model.state_dict().items()})
    return states, optimizer


def hub_name(name):
    return name if name.startswith("lm_head") else "model." + name


def hub(folder, state, shards):
    """Sharded safetensors with an index and config.json."""
    os.makedirs(folder)
    names, files, weight_map = list(state), [], {}
    for i in range(shards):
        part = names[i * len(names) // shards:(i + 1) * len(names) // shards]
        file = f"model-{i + 1:05d}-of-{shards:05d}.safetensors"
        save_file({n: state[n] for n in part}, os.path.join(folder, file), {"format": "pt"})
        weight_map.update({n: file for n in part})
        files.append(file)
    total = sum(t.numel() * t.element_size() for t in state.values())
    write_json(os.path.join(folder, "model.safetensors.index.json"),
               {"metadata": {"total_size": total}, "weight_map": weight_map})
    write_json(os.path.join(folder, "config.json"),
               {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": VOCAB,
                "hidden_size": HIDDEN, "intermediate_size": FFN, "num_hidden_layers": LAYERS,
                "num_attention_heads": HEADS, "num_key_value_heads": HEADS,
                "tie_word_embeddings": False, "torch_dtype": "float32"})


def write_json(path, content):
    with open(path, "w") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def tensor_parallel(folder, state, stale=None):
    """Rank files of tp=2, in the trainer's own names. `stale`: (name, older state): rank 1 still has its older piece."""
    os.makedirs(folder)
    for rank in range(2):
        source = dict(state)
        if stale and rank == 1:
            source[stale[0]] = stale[1][stale[0]]
        pieces = {n.removeprefix("model."): slice_of(n, t, 2, rank) for n, t in source.items()}
        torch.save({"model": pieces, "iteration": 3}, os.path.join(folder, f"tp_{rank}.pt"))
    with open(os.path.join(folder, "layout.toml"), "w") as file:
        file.write(TP_LAYOUT.format(vocab=VOCAB))


def fully_sharded(folder, state, optimizer, world=2):
    """FSDP2's sharded state, a file a rank, in the names that verl gives them."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard
    from torch.testing._internal.distributed.fake_pg import FakeStore
    os.makedirs(folder)
    for rank in range(world):
        dist.init_process_group("fake", rank=rank, world_size=world, store=FakeStore())
        mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("dp",))

        def part(tensor):
            if tensor.dim() == 0:
                return tensor
            chunks = list(tensor.chunk(world))
            chunks += [tensor[:0]] * (world - len(chunks))
            return DTensor.from_local(chunks[rank].clone(), mesh, [Shard(0)], run_check=False,
                                      shape=tensor.shape, stride=tensor.stride())

        def save(role, content):
            torch.save(content, os.path.join(folder, f"{role}_world_size_{world}_rank_{rank}.pt"))

        moments = optimizer.state_dict()
        moments["state"] = {i: {k: part(t) for k, t in held.items()}
                            for i, held in moments["state"].items() if i < 4}  # the rest is frozen
        save("model", {name: part(tensor) for name, tensor in state.items()})
        save("optim", moments)
        save("extra_state", {"lr_scheduler": {"last_epoch": 3},
                             "rng": {"cpu": torch.arange(8, dtype=torch.uint8) + rank}})
        dist.destroy_process_group()
    write_json(os.path.join(folder, "fsdp_config.json"), {"FSDP_version": 2, "world_size": world})


def checkpoints(root):
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    states, optimizer = train(3)
    state = states[-1]
    assert {shard_dim(n) for n in state} == {None, 0, 1}
    hub(os.path.join(root, "hub"), state, 3)
    tensor_parallel(os.path.join(root, "tp2"), state)
    tensor_parallel(os.path.join(root, "tp2-stale"), state,
                    ("model.layers.1.mlp.down_proj.weight", states[-2]))
    fully_sharded(os.path.join(root, "fsdp2"), state, optimizer)
    train_state = {"model": state, "optimizer": optimizer.state_dict(), "iteration": 3}
    torch.save(train_state, os.path.join(root, "train.pt"))
    torch.save(train_state, os.path.join(root, "train-legacy.pt"),
               _use_new_zipfile_serialization=False)
    np.savez(os.path.join(root, "weights.npz"), **{n: t.numpy() for n, t in state.items()})
    rounded = {n: t.to(torch.bfloat16) for n, t in state.items()}
    save_file(rounded, os.path.join(root, "rounded-bf16.safetensors"))
    nan = {n: t.clone() for n, t in state.items()}
    nan["model.layers.0.mlp.up_proj.weight"][5, 2] = float("nan")
    save_file(nan, os.path.join(root, "nan.safetensors"))
    fill = torch.nn.functional.pad
    padded = {n: fill(t, (0, 0, 0, 40 - VOCAB)) if len(t) == VOCAB else t for n, t in state.items()}
    save_file(padded, os.path.join(root, "untrimmed.safetensors"))


class Holder(torch.nn.Module):
    """A module that has the state as its buffers, to be saved as TorchScript."""
    def __init__(self, state):
        super().__init__()
        for name, tensor in state.items():
            self.register_buffer(name, tensor)

    def forward(self):
        return self.weight.sum() + self.bias.sum()


def small(root):
    """One tiny state in every container, for damage at every byte: all of them are equal."""
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    generator = torch.Generator().manual_seed(5)
    state = {"bias": torch.randn(5, generator=generator),
             "steps": torch.tensor([3, -7, 2**40], dtype=torch.int64),
             "weight": torch.randn(4, 6, generator=generator)}
    path = lambda name: os.path.join(root, name)  # noqa: E731
    save_file(state, path("state.safetensors"))
    torch.save(state, path("state.pt"))
    torch.save(state, path("legacy.pt"), _use_new_zipfile_serialization=False)
    script = torch.jit.script(Holder(state))
    torch.jit.save(script, path("script.pt"))
    np.savez(path("stored.npz"), **{n: t.numpy() for n, t in state.items()})
    np.savez_compressed(path("deflated.npz"), **{n: t.numpy() for n, t in state.items()})
    with h5py.File(path("state.h5"), "w") as file:
        for name, tensor in state.items():
            file[name] = tensor.numpy()
    os.makedirs(path("arrays"))
    for name, tensor in state.items():
        np.save(path(f"arrays/{name}.npy"), tensor.numpy())
    hub(path("hub"), state, 2)
    os.makedirs(path("ranks"))
    for rank in range(2):
        pieces = {**state, "weight": state["weight"].narrow(0, 2 * rank, 2).clone()}
        torch.save({"model": pieces}, path(f"ranks/tp_{rank}.pt"))
    with open(path("ranks/layout.toml"), "w") as file:
        file.write(TP_LAYOUT.split("[model]")[0].format() +
                   '[[tensor]]\nmatch = "weight"\ndims = "r[tp] c"\n'
                   '[[tensor]]\nmatch = "**"\ndims = "*"\n')
    for encoding, write in (("safetensors", write_safetensors), ("h5", write_hdf5)):
        folder = path(f"trace-{encoding}/step-000001")
        os.makedirs(folder)
        write_json(path(f"trace-{encoding}/run.json"),
                   {"ttcheck_trace": 1, "world_size": 1, "mesh": {}, "ranks": [{}]})
        write(f"{folder}/rank-00000.{encoding}",
              [({"seq": i, "phase": "forward", "module": name, "kind": "output", "slot": 0}, tensor)
               for i, (name, tensor) in enumerate(state.items())])


if __name__ == "__main__":
    here = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(__file__)
    checkpoints(os.path.join(here, "checkpoint"))
    small(os.path.join(here, "small"))
