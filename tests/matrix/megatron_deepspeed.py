# SPDX-License-Identifier: Apache-2.0
"""Cuts a model as Megatron-DeepSpeed's ranks hold it: names of Megatron before core, or of a pipeline's layers
(deepspeed/runtime/pipe/module.py), with the rules of `universal_checkpoint_info` beside them."""
import collections
import os
import re

import numpy as np

import deepspeed
import megatron
import torch_zip

PARTS = {"self_attention.linear_qkv.weight": "self_attention.query_key_value.weight",
         "self_attention.linear_qkv.bias": "self_attention.query_key_value.bias",
         "self_attention.linear_proj.weight": "self_attention.dense.weight",
         "pre_mlp_layernorm.weight": "post_attention_layernorm.weight",
         "mlp.linear_fc1.weight": "mlp.dense_h_to_4h.weight",
         "mlp.linear_fc2.weight": "mlp.dense_4h_to_h.weight"}
ENDS = {"embedding.word_embeddings.weight": "language_model.embedding.word_embeddings.weight",
        "decoder.final_layernorm.weight": "language_model.encoder.final_layernorm.weight",
        "output_layer.weight": "language_model.output_layer.weight"}
FIRST = 3  # the pipeline's module that is the first layer: before it are a cast, the embedding and a transposition


def renamed(model, name, pipeline):
    layer = re.match(r"decoder\.layers\.(\d+)\.(.*)", name)
    if layer:
        part = PARTS.get(layer[2], layer[2])
        return f"{FIRST + int(layer[1])}.{part}" if pipeline else f"language_model.encoder.layers.{layer[1]}.{part}"
    if not pipeline:
        return ENDS[name]
    if name == "embedding.word_embeddings.weight":
        return "tied_modules.embed.word_embeddings.weight" if model.tied else "1.word_embeddings.weight"
    return f"{FIRST + model.layers + 1}.weight" if "norm" in name else f"{FIRST + model.layers + 2}.lm_head.weight"


def rules(model):
    return {"universal_checkpoint_info": {
        "universal_checkpoint_version": 0.2,
        "tp_replicated_parameter_patterns": [r".*norm.weight", rf"{FIRST + model.layers + 1}\.weight"],
        "parameter_with_row_parallelism_patterns": [r".*self_attention\.dense\.weight", r".*mlp.dense_4h_to_h.weight$"],
        "parameter_with_2_sub_params_cat_dim_0": [r".*mlp\.dense_h_to_4h\.weight"],
        "vocabulary_parameter_patterns": [r".*word_embeddings\.weight", r".*output_layer\.weight", r"\d+\.lm_head\.weight"],
        "original_vocab_size": model.vocab}}


def stages_of(model, name, pp):
    layer = re.match(r"decoder\.layers\.(\d+)\.", name)
    if layer:
        return [int(layer[1]) * pp // model.layers]
    if not name.startswith("embedding"):
        return [pp - 1]
    return sorted({0, pp - 1}) if model.tied else [0]


def share(model, weights, tp, pp, rank):
    """By the framework's names what one rank MM holds."""
    stage, tensor = divmod(rank, tp)
    noise = np.random.default_rng(tensor + 7)
    return collections.OrderedDict(
        (renamed(model, name, pp > 1), megatron.local(model, name, value, tp, tensor, noise))
        for name, value in weights.items() if stage in stages_of(model, name, pp))


def write(model, weights, tp, pp, world, stage, folder, change=None):
    shares = [share(model, weights, tp, pp, rank) for rank in range(tp * pp)]
    deepspeed.write_ranks(shares, world, stage, folder, change, rules(model), pp > 1)
    if pp == 1:
        return
    layers = collections.defaultdict(collections.OrderedDict)
    for rank, held in enumerate(shares):
        for name, value in held.items():
            number, part = name.split(".", 1) if name[0].isdigit() else (1, name.split(".", 2)[2])
            layers[int(number), rank % tp][part] = value.astype(np.float16)
    for (number, tensor), state in layers.items():
        torch_zip.save(state, os.path.join(folder, "global_step10", f"layer_{number:02}-model_{tensor:02}-model_states.pt"))
