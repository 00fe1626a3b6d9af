"""Makes samples/small/dcp and dcp-hf: the state of small/state.safetensors, sharded over two ranks.

Two gloo processes save DTensors with torch.distributed.checkpoint: once into .metadata and .distcp
files, with a value that is no tensor, once with the Hugging Face writer.
"""

import os
import shutil

import safetensors.torch
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


if __name__ == "__main__":
    small = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small")
    for name in ("dcp", "dcp-hf"):
        shutil.rmtree(os.path.join(small, name), ignore_errors=True)
    mp.spawn(save, (small,), nprocs=RANKS)
