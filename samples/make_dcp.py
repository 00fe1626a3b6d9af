# SPDX-License-Identifier: Apache-2.0
"""Makes samples/small/dcp, dcp-hf and megatron-core: the state of small/state.safetensors.

Two gloo processes save DTensors with torch.distributed.checkpoint: once into .metadata and .distcp
files, with a value that is no tensor, once with the Hugging Face writer. One process saves as
Megatron core lays things out: flat keys, no planner data, metadata.json and common.pt beside them.

    python samples/make_dcp.py      (torch, safetensors)
"""

import argparse
import json
import os
import shutil

import safetensors.torch
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

RANKS = 2


def save(rank, root):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29533", GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    mesh = init_device_mesh("cpu", (RANKS,), mesh_dim_names=("dp",))
    os.chdir(root)  # the table keeps the path
    state = safetensors.torch.load_file("state.safetensors")
    sharded = {k: distribute_tensor(v, mesh, [Shard(0)]) for k, v in state.items()}
    dcp.save({"model": sharded, "train": {"step": 7}}, checkpoint_id="dcp")
    writer = dcp.HuggingFaceStorageWriter("dcp-hf", save_distributed=True)
    dcp.save(dict(sharded), storage_writer=writer)
    dist.destroy_process_group()


def save_like_megatron(root):
    state = safetensors.torch.load_file(os.path.join(root, "state.safetensors"))
    os.chdir(root)
    planner = dcp.DefaultSavePlanner(flatten_state_dict=False)
    dcp.save(state, checkpoint_id="megatron-core", planner=planner, no_dist=True)
    args = argparse.Namespace(tensor_model_parallel_size=1, vocab_size=6)
    torch.save({"args": args, "iteration": 7}, "megatron-core/common.pt")
    with open("megatron-core/metadata.json", "w") as file:
        json.dump({"sharded_backend": "torch_dist", "sharded_backend_version": 1}, file)


if __name__ == "__main__":
    small = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small")
    for name in ("dcp", "dcp-hf", "megatron-core"):
        shutil.rmtree(os.path.join(small, name), ignore_errors=True)
    mp.spawn(save, (small,), nprocs=RANKS)
    save_like_megatron(small)
