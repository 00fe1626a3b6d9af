# SPDX-License-Identifier: Apache-2.0
"""Cuts a model into Megatron's rank files (--ckpt-format torch), by index, as megatron/core/tensor_parallel/layers.py and
megatron/training/checkpointing.py (get_checkpoint_name) do."""
import argparse
import collections
import os
import re

import numpy as np

import torch_zip


def padded_vocab(model, tp):
    multiple = 8 * tp
    return -(-model.vocab // multiple) * multiple


def arguments(model, tp, pp, ep):
    return argparse.Namespace(
        num_layers=model.layers, hidden_size=model.hidden, ffn_hidden_size=model.ffn, num_attention_heads=model.heads,
        num_query_groups=model.groups, group_query_attention=True, kv_channels=model.head_dim, vocab_size=model.vocab,
        padded_vocab_size=padded_vocab(model, tp), make_vocab_size_divisible_by=8, swiglu=True, gated_linear_unit=True,
        untie_embeddings_and_output_weights=not model.tied, normalization="RMSNorm", add_bias_linear=False, add_qkv_bias=True,
        num_experts=model.experts or None, moe_ffn_hidden_size=model.ffn, moe_grouped_gemm=False, moe_layer_freq=1,
        tensor_model_parallel_size=tp, pipeline_model_parallel_size=pp, virtual_pipeline_model_parallel_size=None,
        expert_model_parallel_size=ep, expert_tensor_parallel_size=tp, context_parallel_size=1, data_parallel_size=ep,
        world_size=tp * pp * ep, sequence_parallel=False, use_distributed_optimizer=False, ckpt_format="torch",
        decoder_first_pipeline_num_layers=None, decoder_last_pipeline_num_layers=None,
        account_for_embedding_in_pipeline_split=False, account_for_loss_in_pipeline_split=False,
        pipeline_model_parallel_layout=None, position_embedding_type="rope", iteration=10)


def local(model, name, value, tp, rank, noise):
    """The part of one tensor that a tensor-parallel rank holds."""
    if name in ("embedding.word_embeddings.weight", "output_layer.weight"):
        rows = padded_vocab(model, tp)
        padding = noise.standard_normal((rows - model.vocab, model.hidden)).astype(np.float32)
        return np.concatenate([value, padding])[rank * rows // tp:(rank + 1) * rows // tp]
    if "linear_qkv" in name:
        return np.split(value, tp)[rank]
    if name.endswith("linear_fc1.weight"):
        gate, up = np.split(value, 2)
        return np.concatenate([np.split(gate, tp)[rank], np.split(up, tp)[rank]])
    if name.endswith(("linear_proj.weight", "linear_fc2.weight")):
        return np.split(value, tp, axis=1)[rank]
    return value


def state_of(model, weights, tp, pp, ep, at):
    """What the rank at (tp, pp, ep) coordinates `at` saves as `model`."""
    stage, expert_rank = at["pp"], at["ep"]
    layers, experts = model.layers // pp, model.experts // ep
    state = collections.OrderedDict()
    for name, value in weights.items():
        noise = np.random.default_rng(at["tp"] + 7)
        layer = re.match(r"decoder\.layers\.(\d+)\.(.*)", name)
        if layer:
            number = int(layer[1])
            if number // layers != stage:
                continue
            name = f"decoder.layers.{number % layers}.{layer[2]}"
            expert = re.search(r"local_experts\.(\d+)\.", name)
            if expert:
                if int(expert[1]) // experts != expert_rank:
                    continue
                name = name.replace(expert[0], f"local_experts.{int(expert[1]) % experts}.")
        elif stage != (0 if name.startswith("embedding") else pp - 1):
            continue
        state[name] = local(model, name, value, tp, at["tp"], noise)
    if model.tied and pp > 1 and stage == pp - 1:
        name = "embedding.word_embeddings.weight"
        state["output_layer.weight"] = local(model, name, weights[name], tp, at["tp"], np.random.default_rng(at["tp"] + 7))
    return state


def ranks(tp, pp, ep):
    for stage in range(pp):
        for expert in range(ep):
            for tensor in range(tp):
                folder = f"mp_rank_{tensor:02}" + (f"_{stage:03}" if pp > 1 else "") + (f"_{expert:03}" if ep > 1 else "")
                yield {"tp": tensor, "pp": stage, "ep": expert}, folder


def write(model, weights, tp, pp, ep, folder, change=None):
    """`change(at, state)` may alter what a rank saves."""
    for at, name in ranks(tp, pp, ep):
        state = state_of(model, weights, tp, pp, ep, at)
        if change:
            change(at, state)
        place = os.path.join(folder, "iter_0000010", name)
        os.makedirs(place)
        torch_zip.save({"args": arguments(model, tp, pp, ep), "checkpoint_version": 3.0, "iteration": 10, "model": state},
                       os.path.join(place, "model_optim_rng.pt"))
    with open(os.path.join(folder, "latest_checkpointed_iteration.txt"), "w") as file:
        file.write("10")
