# SPDX-License-Identifier: Apache-2.0
"""Makes samples/names/megatron-legacy: the model of make_names.py as four ranks of Megatron-LM save it.

    python samples/make_megatron.py [FOLDER]      (torch, safetensors)

Two tensor-parallel by two pipeline ranks, written by torch.save under the names and with the arguments
that megatron.training.checkpointing gives them; the vocabulary is padded with noise.
"""
import argparse
import os
import sys

import torch
from safetensors.torch import load_file

TP, PP, LAYERS, VOCAB, PADDED = 2, 2, 2, 9, 16
ROWS = ("linear_qkv.weight", "word_embeddings.weight", "output_layer.weight")
COLUMNS = ("linear_proj.weight", "linear_fc2.weight")


def own(name, tensor, tp):
    """A tensor-parallel rank's part."""
    if name.endswith(("word_embeddings.weight", "output_layer.weight")):
        noise = torch.randn(PADDED - VOCAB, tensor.shape[1], generator=torch.Generator().manual_seed(1))
        tensor = torch.cat([tensor, noise])
    if name.endswith(ROWS):
        tensor = tensor.chunk(TP, 0)[tp]
    elif name.endswith("linear_fc1.weight"):
        gate, up = tensor.chunk(2, 0)
        tensor = torch.cat([gate.chunk(TP, 0)[tp], up.chunk(TP, 0)[tp]])
    elif name.endswith(COLUMNS):
        tensor = tensor.chunk(TP, 1)[tp]
    return tensor.clone()


def held(name, pp):
    """The name on a pipeline stage of one layer; none where it does not hold the tensor."""
    if name.startswith("embedding."):
        return name if pp == 0 else None
    if not name.startswith("decoder.layers."):
        return name if pp == PP - 1 else None
    layer, rest = name[len("decoder.layers."):].split(".", 1)
    return f"decoder.layers.0.{rest}" if int(layer) == pp else None


def main(folder):
    model = load_file(os.path.join(folder, "megatron.safetensors"))
    for tp in range(TP):
        for pp in range(PP):
            args = argparse.Namespace(
                num_layers=LAYERS, hidden_size=8, ffn_hidden_size=6, num_attention_heads=4,
                group_query_attention=True, num_query_groups=2, kv_channels=2, vocab_size=VOCAB,
                padded_vocab_size=PADDED, make_vocab_size_divisible_by=8, swiglu=True, num_experts=None,
                untie_embeddings_and_output_weights=True, position_embedding_type="rope",
                rotary_base=10000, layernorm_epsilon=1e-05, tensor_model_parallel_size=TP,
                pipeline_model_parallel_size=PP, virtual_pipeline_model_parallel_size=None,
                context_parallel_size=1, expert_model_parallel_size=1, expert_tensor_parallel_size=TP,
                world_size=TP * PP, data_parallel_size=1, rank=pp * TP + tp)
            state = {held(name, pp): own(name, tensor, tp) for name, tensor in model.items() if held(name, pp)}
            rank = os.path.join(folder, "megatron-legacy", "iter_0000012", f"mp_rank_{tp:02d}_{pp:03d}")
            os.makedirs(rank, exist_ok=True)
            torch.save({"args": args, "checkpoint_version": 3.0, "iteration": 12, "model": state},
                       os.path.join(rank, "model_optim_rng.pt"))
    with open(os.path.join(folder, "megatron-legacy", "latest_checkpointed_iteration.txt"), "w") as tracker:
        tracker.write("12")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "names"))
