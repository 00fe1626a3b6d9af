# SPDX-License-Identifier: Apache-2.0
"""Runs a configuration with its planted faults and writes the trace."""
import functools
import os

import numpy as np

from collectives import run_ranks
from config import AXES, coordinates
from model import Model
from optimizer import Optimizer
from params import make_params, specs_of, whole_weights
from place import Place, World
from recorder import Recorder, write_run


def global_batch(c, step):
    """Token ids, labels and the mask of what counts, of all rows."""
    random = np.random.default_rng([c.batch_seed, step])
    ids = random.integers(0, c.vocab, (c.batch, c.seq + 1))
    ids[:, 1] = np.arange(c.batch) * c.vocab // c.batch  # each part of the vocabulary is used
    mask = np.ones((c.batch, c.seq), np.float32)
    mask[:, 0] = 0
    for row in range(c.batch):  # rows are of unlike length
        mask[row, c.seq - row * c.seq // (2 * c.batch):] = 0
    mask[list(c.masked_rows)] = 0
    return ids[:, :-1], ids[:, 1:], mask


def facts_of(c):
    mesh = {axis: getattr(c, axis) for axis in AXES if getattr(c, axis) > 1}
    changed = {"perturbation": {"where": "embedding/output.0", "relative": c.nudge}} if c.nudge else {}
    role = "perturbed" if c.nudge else "reference" if c.world == 1 else "candidate"
    return {
        "run": "zoo", "role": role, **changed, "framework": "numpy", "world_size": c.world,
        "mesh": mesh, "ranks": [{axis: coordinates(c, rank)[axis] for axis in mesh} for rank in range(c.world)],
        "model": {"layers": c.layers, "hidden": c.hidden, "heads": c.heads, "kv_heads": c.kv_heads, "head_dim": c.head_dim,
                  "ffn": c.ffn, "vocab": c.vocab, "experts": c.experts, "tied_embeddings": c.tied, "dropout": c.dropout},
        "precision": {"compute": c.precision, "params": c.precision, "grads": "float32"},
        "optimizer": {"name": "adamw", "lr": c.lr, "betas": list(c.betas), "eps": c.adam_eps, "weight_decay": c.decay, "clip": c.clip},
        "parallel": {"sequence_parallel": c.sp, "micro_batches": c.mb, "zero": c.zero, "recompute": c.recompute},
        "seed": c.seed, "deterministic": True}


def step_of_rank(p, model, optimizer, step):
    c = p.c
    batch = p.site("batch", global_batch(c, step))
    total = batch[2].sum()
    p.step, loss = step, np.float32(0)
    for param in optimizer.params.values():
        param.grad = p.site(f"start:{param.name}", np.zeros_like(param.grad), grad=param.grad, value=param.value)

    def forward(microbatch):
        p.microbatch = microbatch
        return model.forward(batch, p.site("total", total, batch=batch))

    def backward(microbatch):
        p.microbatch = microbatch
        model.backward()
        for param in optimizer.params.values():
            param.grad = p.site(f"after:{param.name}", param.grad, param=param)

    if c.pp == 1:
        for microbatch in range(c.mb):
            loss += forward(microbatch)
            backward(microbatch)
    else:
        loss = sum(forward(microbatch) for microbatch in range(c.mb))
        for microbatch in range(c.mb):
            backward(microbatch)
    p.microbatch = 0
    loss = p.world.everybody.sum(p.rank, np.array([loss])) / c.tp  # each tensor-parallel rank has the same
    norm = optimizer.step()
    if p.recording:
        for name, value in (("loss", loss[0]), ("grad_norm", norm), ("lr", p.site("lr", c.lr)), ("optimizer_step", optimizer.count)):
            p.trace.event(name, float(value))


@functools.lru_cache(maxsize=4)
def trained(c, steps):
    """Master, moments of each parameter after these steps of one rank: what a checkpoint would hold."""
    alone = c.changed(pp=1, dp=1, ep=1, cp=1, tp=1, sp=False, zero=0, mb=1, recompute=False, align=1)
    p = Place(World(alone, []), 0, None)
    p.world.trained = []
    params = make_params(p, whole_weights(alone))
    optimizer = Optimizer(p, params)
    model = Model(p, params)
    for step in range(1, steps + 1):
        step_of_rank(p, model, optimizer, step)
    return {name: (param.master, param.m, param.v) for name, param in params.items()}


def simulate(c, planted, folder):
    """Trains steps c.first to c.last and writes their trace. A later first step resumes from what one rank came to before."""
    world = World(c, planted)
    world.trained = [name for name in specs_of(c) if name not in c.frozen]
    recorders = [Recorder(folder, rank) for rank in range(c.world)]
    os.makedirs(folder)
    saved = trained(c.changed(nudge=0.0, nudge_seed=0, pieces=1), c.first - 1) if c.first > 1 else {}
    weights = {name: state[0] for name, state in saved.items()} or whole_weights(c)

    def body(rank):
        np.seterr(all="ignore")  # of this thread: faults overflow
        p = Place(world, rank, recorders[rank])
        p.step, p.recording = c.first, True
        params = make_params(p, weights)
        optimizer = p.optimizer = Optimizer(p, params)
        if saved:
            optimizer.resume(saved, c.first - 1)
        model = Model(p, params)
        for step in range(c.first, c.last + 1):
            p.trace.begin(step)
            if step == c.first:
                optimizer.record_state(bool(saved))
            step_of_rank(p, model, optimizer, step)
            p.trace.end()

    run_ranks(c.world, world.all_groups(), body)
    write_run(folder, facts_of(c), recorders)
