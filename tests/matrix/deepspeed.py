# SPDX-License-Identifier: Apache-2.0
"""Cuts fp32 weights into DeepSpeed's ZeRO partitions, as deepspeed/runtime/zero/stage_1_and_2.py and stage3.py do and
utils/zero_to_fp32.py undoes."""
import collections
import os

import numpy as np

import torch_zip


def groups_of(weights):
    """Matrices, then the rest: two parameter groups."""
    matrices = [n for n, v in weights.items() if v.ndim > 1]
    return [matrices, [n for n in weights if n not in matrices]]


def padded(flat, multiple):
    return np.concatenate([flat, np.zeros(-len(flat) % multiple, flat.dtype)])


def model_state(weights, world, stage, more):
    half = {n: v.astype(np.float16) for n, v in weights.items()}
    shapes = [collections.OrderedDict((n, torch_zip.Size(weights[n].shape)) for n in names) for names in groups_of(weights)]
    module = collections.OrderedDict((n, np.zeros(0, np.float16) if stage == 3 else v) for n, v in half.items())
    made = {"module": module, "buffer_names": [], "optimizer": None, "param_shapes": shapes, "frozen_param_shapes": None,
            "shared_params": {}, "frozen_param_fragments": None, "lr_scheduler": None, "sparse_tensor_module_names": [],
            "skipped_steps": 0, "global_steps": 10, "global_samples": 40, "dp_world_size": world, "mp_world_size": 1,
            "ds_config": {"zero_optimization": {"stage": stage}, "fp16": {"enabled": True}}, "ds_version": "0.19.8"}
    made.update(more)
    return made


def adam(parts, step=10.0):
    """A flat optimizer's state: moments that follow from the partitions, so that the twin can tell them."""
    return {"state": {i: {"step": np.array(step, np.float32), "exp_avg": p * np.float32(0.5),
                          "exp_avg_sq": p * p} for i, p in enumerate(parts)},
            "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 0.1, "params": [i]}
                             for i in range(len(parts))]}


def partitions(weights, world, rank, stage):
    """Per group the rank's flat partition with its padding, and how much of that is padding."""
    parts, paddings = [], []
    for names in groups_of(weights):
        if stage == 3:
            pieces = []
            for name in names:
                flat = padded(weights[name].ravel(), world)
                pieces.append(np.split(flat, world)[rank])
            parts.append(np.concatenate(pieces))
            paddings.append(0)
            continue
        flat = np.concatenate([weights[name].ravel() for name in names])
        whole = padded(flat, 2 * world)
        size = len(whole) // world
        parts.append(whole[rank * size:(rank + 1) * size])
        paddings.append(min(size, max(0, (rank + 1) * size - len(flat))))
    return parts, paddings


def twin(weights, stage):
    """The tensors that a checkpoint of these weights holds, whole; moments as `adam` makes them."""
    made = {} if stage == 3 else {n: v.astype(np.float16) for n, v in weights.items()}
    for name, value in weights.items():
        made[name + "@master"] = value
        made[name + "@exp_avg"] = value * np.float32(0.5)
        made[name + "@exp_avg_sq"] = value * value
    return made


def optimizer_file(stage, rank, mp=0):
    return f"zero_pp_rank_{rank}_mp_rank_{mp:02}_optim_states.pt" if stage else f"mp_rank_{mp:02}_model_states.pt"


def whole_optimizer(weights, change):
    """Of stage 0: masters and moments by the number of each parameter (runtime/fp16/unfused_optimizer.py)."""
    masters = [np.concatenate([weights[name].ravel() for name in names]) for names in groups_of(weights)]
    state, groups, fp32, number = {}, [], [], 0
    for names in groups_of(weights):
        groups.append({"lr": 1e-3, "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": 0.1,
                       "params": list(range(number, number + len(names)))})
        for name in names:
            value = weights[name]
            state[number] = {"step": np.array(10.0, np.float32), "exp_avg": value * np.float32(0.5), "exp_avg_sq": value * value}
            number += 1
    if change:
        change(0, 0, masters)
    for flat, names in zip(masters, groups_of(weights)):
        ends = np.cumsum([weights[name].size for name in names])
        fp32.append([part.reshape(weights[name].shape) for part, name in zip(np.split(flat, ends[:-1]), names)])
    return {"dynamic_loss_scale": False, "cur_scale": 1.0, "cur_iter": 10, "clip_grad": 0.0,
            "optimizer_state_dict": {"state": state, "param_groups": groups}, "fp32_groups": fp32}


def write(weights, world, stage, folder, change=None):
    """`change(mp, rank, parts)` may alter the fp32 partitions of a data-parallel rank."""
    write_ranks([weights], world, stage, folder, change, {}, False)


def write_ranks(shares, world, stage, folder, change, more, pipeline):
    """`shares`: what each rank MM holds of the weights. `more`: beside the module, which a pipeline has in files of layers."""
    place = os.path.join(folder, "global_step10")
    os.makedirs(place)
    with open(os.path.join(folder, "latest"), "w") as file:
        file.write("global_step10")
    more = dict(more, mp_world_size=len(shares), **({"module": None} if pipeline else {}))
    for mp, weights in enumerate(shares):
        state = model_state(weights, world, stage, more)
        if stage == 0:
            state.update(param_shapes=None, optimizer=whole_optimizer(weights, change))
        if stage < 3:
            torch_zip.save(state, os.path.join(place, f"mp_rank_{mp:02}_model_states.pt"))
        for rank in range(world if stage else 0):
            if stage == 3:
                torch_zip.save(state, os.path.join(place, f"zero_pp_rank_{rank}_mp_rank_{mp:02}_model_states.pt"))
            parts, paddings = partitions(weights, world, rank, stage)
            moments = adam(parts)
            if change:
                change(mp, rank, parts)
            write_partition(parts, paddings, moments, world, stage, os.path.join(place, optimizer_file(stage, rank, mp)))


def write_partition(parts, paddings, moments, world, stage, path):
    if stage == 3:
        state = {"zero_stage": 3, "loss_scaler": None, "dynamic_loss_scale": False, "overflow": False,
                 "partition_count": world, "optimizer_state_dict": moments, "fp32_flat_groups": parts}
    else:
        trimmed = [p[:len(p) - pad].copy() for p, pad in zip(parts, paddings)]
        state = {"zero_stage": stage, "loss_scaler": None, "dynamic_loss_scale": False, "overflow": False,
                 "clip_grad": 0.0, "base_optimizer_state": moments, "single_partition_of_fp32_groups": trimmed,
                 "group_paddings": paddings, "partition_count": [world] * len(parts)}
    torch_zip.save({"optimizer_state_dict": state, "ds_config": {}, "ds_version": "0.19.8"}, path)
