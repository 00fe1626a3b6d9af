#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts the tensors of a safetensors file by rows, one process a rank, and saves them with torch.distributed.checkpoint.

    dcp_peer.py WHOLE.safetensors FOLDER RANKS
"""
import os
import sys

import safetensors
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard


def save(rank, whole, folder, ranks):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29541", GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    mesh = init_device_mesh("cpu", (ranks,), mesh_dim_names=("dp",))
    state = {}
    with safetensors.safe_open(whole, "pt") as file:
        for name in file.keys():
            rows = file.get_slice(name)
            size = rows.get_shape()[0] // ranks
            local = rows[rank * size:(rank + 1) * size].contiguous()
            state[name] = DTensor.from_local(local, mesh, [Shard(0)])
    dcp.save(state, checkpoint_id=folder)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(save, (sys.argv[1], sys.argv[2], int(sys.argv[3])), nprocs=int(sys.argv[3]))
