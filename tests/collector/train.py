# SPDX-License-Identifier: Apache-2.0
"""One training of the matrix: a model, a way to train it, a bug or none.

    python train.py FOLDER MODEL WAY [BUG]     FOLDER `-`: nothing is recorded; prints a hash of the last weights
"""
import hashlib
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "samples", "collector")]
import bugs  # noqa: E402
from models import LAYERS, MODELS, batch_of, loss_of  # noqa: E402

STEPS = 2
RANKS = {"ddp2": 2, "fsdp2": 2, "tp2": 2, "pp2-gpipe": 2, "pp2-1f1b": 2}


def made(kind, way):
    torch.manual_seed(1)
    model = MODELS[kind]()
    if way == "checkpoint":
        checkpointed(model, kind)
    elif way == "compile":
        model = torch.compile(model, backend="aot_eager")
    elif way == "ddp2":
        model = torch.nn.parallel.DistributedDataParallel(model)
    elif way == "fsdp2":
        from torch.distributed.fsdp import fully_shard
        for _, layer in layers_of(model, kind)[1]:
            fully_shard(layer)
        fully_shard(model)
    elif way == "tp2":
        tensor_parallel(model, kind)
    return model


def layers_of(model, kind):
    """(name, layer) of what holds them, and that."""
    held = {"hf-llama": lambda: model.model.layers, "hf-gpt2": lambda: model.transformer.h}.get(kind, lambda: model.layers)()
    return held, list(held.named_children())


def checkpointed(model, kind):
    if kind.startswith("hf-"):
        return model.gradient_checkpointing_enable({"use_reentrant": False})
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
    held, layers = layers_of(model, kind)
    for name, layer in layers:
        held[name] = checkpoint_wrapper(layer)


def tensor_parallel(model, kind):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
    column, row = [], []
    if kind.endswith("llama"):
        column = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.up_proj"]
        row = ["self_attn.o_proj", "mlp.down_proj"]
    elif kind == "gpt2":
        column, row = ["attn.q_proj", "attn.k_proj", "attn.v_proj", "c_fc"], ["attn.o_proj", "c_proj"]
    elif kind == "moe":
        column, row = ([f"experts.{i}.{name}" for i in range(4)] for name in ("up", "down"))
    for _, layer in layers_of(model, kind)[1]:
        parallelize_module(layer, mesh, {**{name: ColwiseParallel() for name in column}, **{name: RowwiseParallel() for name in row}})


def stage_of(model, index):
    """The first or the second half of it."""
    for i in range(LAYERS):
        if (i >= LAYERS // 2) != bool(index):
            del model.layers[str(i)]
    if index == 0:
        model.norm = model.head = None
    else:
        model.embed = model.places = None
    return model


def train(rank, folder, kind, way, bug, port):
    torch.set_num_threads(1)
    world = RANKS.get(way, 1)
    if world > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world))
        dist.init_process_group("gloo", rank=rank, world_size=world)
    (pipelined if way.startswith("pp2") else plain)(rank, folder, kind, way, bug)
    if world > 1:
        dist.destroy_process_group()


def recorder(folder, *what, **more):
    if folder == "-":
        import contextlib
        return contextlib.nullcontext()
    from ttcheck_trace import Trace
    return Trace(folder, *what, **more)


def plain(rank, folder, kind, way, bug):
    model = made(kind, way)
    bugs.plant(model, kind, bug, rank)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    pieces = 4 if way == "accumulate4" else 1
    with recorder(folder, model, optimizer):
        for step in range(STEPS):
            inputs, targets = batch_of(kind, step)
            if way in ("ddp2", "fsdp2"):
                inputs, targets = inputs.chunk(2)[rank], targets.chunk(2)[rank]
            for x, y in zip(inputs.chunk(pieces), targets.chunk(pieces)):
                with torch.autocast("cpu", torch.bfloat16, enabled=way == "autocast"):
                    loss = loss_of(model(x), y) / pieces
                (loss * bugs.scale_of(bug)).backward()
            bugs.before_clip(model, bug, rank)
            if way != "tp2":  # which does not mix the two kinds of parameters
                torch.nn.utils.clip_grad_norm_(model.parameters(), bugs.clip_of(bug))
            optimizer.step()
            optimizer.zero_grad()
    report(rank, model)


def pipelined(rank, folder, kind, way, bug):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
    torch.manual_seed(1)
    model = stage_of(MODELS[kind](), rank)
    stage = PipelineStage(model, rank, 2, torch.device("cpu"))
    schedule = (ScheduleGPipe if way == "pp2-gpipe" else Schedule1F1B)(stage, 4, loss_fn=loss_of)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with recorder(folder, schedule, optimizer):
        for step in range(STEPS):
            inputs, targets = batch_of(kind, step)
            schedule.step(inputs) if rank == 0 else schedule.step(target=targets)
            optimizer.step()
            optimizer.zero_grad()
    report(rank, model)


def report(rank, model):
    digest = hashlib.sha256()
    for _, parameter in sorted(model.named_parameters()):
        value = parameter.detach()
        value = value.to_local() if hasattr(value, "to_local") else value
        digest.update(value.contiguous().view(torch.uint8).numpy().tobytes())
    os.write(1, f"rank {rank} {digest.hexdigest()}\n".encode())  # at once, whoever else writes


def main(folder, kind, way, bug=""):
    world = RANKS.get(way, 1)
    if world == 1:
        return train(0, folder, kind, way, bug, 0)
    port = 20000 + os.getpid() % 20000
    mp.spawn(train, (folder, kind, way, bug, port), nprocs=world)


if __name__ == "__main__":
    main(*sys.argv[1:])
