# SPDX-License-Identifier: Apache-2.0
"""Makes samples/meta: one small Llama as Hugging Face stores it and as Meta's model-parallel ranks do.

    python samples/make_meta.py [FOLDER]      (torch, safetensors)

`llama2` and `llama3` are two ranks of fairscale's model parallelism each (llama/model.py): Llama 2 cuts the embedding
by columns and states no vocabulary, Llama 3 cuts it by rows. `hf` is what transformers' converter makes of either.
"""
import json
import os
import sys

import torch
from safetensors.torch import save_file

VOCAB, HIDDEN, FFN, LAYERS, HEADS, GROUPS, HEAD_DIM, RANKS = 10, 8, 6, 2, 4, 2, 2, 2
ROWS = ("wq.weight", "wk.weight", "wv.weight", "w1.weight", "w3.weight", "output.weight")
COLUMNS = ("wo.weight", "w2.weight")


def weights():
    """Meta's names, whole."""
    make = lambda *shape: torch.randn(*shape, generator=random)
    random = torch.Generator().manual_seed(5)
    model = {"tok_embeddings.weight": make(VOCAB, HIDDEN), "norm.weight": make(HIDDEN), "output.weight": make(VOCAB, HIDDEN)}
    for layer in range(LAYERS):
        name = f"layers.{layer}."
        for part, rows in (("wq", HEADS), ("wk", GROUPS), ("wv", GROUPS)):
            model[f"{name}attention.{part}.weight"] = make(rows * HEAD_DIM, HIDDEN)
        model[name + "attention.wo.weight"] = make(HIDDEN, HEADS * HEAD_DIM)
        model[name + "attention_norm.weight"] = make(HIDDEN)
        model[name + "ffn_norm.weight"] = make(HIDDEN)
        for part, shape in (("w1", (FFN, HIDDEN)), ("w2", (HIDDEN, FFN)), ("w3", (FFN, HIDDEN))):
            model[f"{name}feed_forward.{part}.weight"] = make(*shape)
    return model


def halves(weight, heads):
    """Rotary pairs as transformers/models/llama/convert_llama_weights_to_hf.py permutes them."""
    return weight.view(heads, HEAD_DIM // 2, 2, -1).transpose(1, 2).reshape(weight.shape)


def hugging_face(model):
    made = {"model.embed_tokens.weight": model["tok_embeddings.weight"], "model.norm.weight": model["norm.weight"],
            "lm_head.weight": model["output.weight"]}
    for layer in range(LAYERS):
        old, new = f"layers.{layer}.", f"model.layers.{layer}."
        made[new + "self_attn.q_proj.weight"] = halves(model[old + "attention.wq.weight"], HEADS)
        made[new + "self_attn.k_proj.weight"] = halves(model[old + "attention.wk.weight"], GROUPS)
        made[new + "self_attn.v_proj.weight"] = model[old + "attention.wv.weight"]
        made[new + "self_attn.o_proj.weight"] = model[old + "attention.wo.weight"]
        made[new + "input_layernorm.weight"] = model[old + "attention_norm.weight"]
        made[new + "post_attention_layernorm.weight"] = model[old + "ffn_norm.weight"]
        for part, name in (("gate", "w1"), ("down", "w2"), ("up", "w3")):
            made[f"{new}mlp.{part}_proj.weight"] = model[f"{old}feed_forward.{name}.weight"]
    return {name: tensor.contiguous() for name, tensor in made.items()}


def part(name, tensor, rank, newer):
    dimension = 0 if name.endswith(ROWS) else 1 if name.endswith(COLUMNS) else None
    if name == "tok_embeddings.weight":
        dimension = 0 if newer else 1
    return tensor.clone() if dimension is None else tensor.chunk(RANKS, dimension)[rank].clone()


def write_json(path, value):
    with open(path, "w") as file:
        json.dump(value, file)
        file.write("\n")


def main(folder):
    model = weights()
    for name, newer in (("llama2", False), ("llama3", True)):
        to = os.path.join(folder, name)
        os.makedirs(to, exist_ok=True)
        write_json(os.path.join(to, "params.json"), {
            "dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS, "n_kv_heads": GROUPS, "multiple_of": 2,
            "ffn_dim_multiplier": 0.3, "norm_eps": 1e-05, "vocab_size": VOCAB if newer else -1})
        for rank in range(RANKS):
            own = {key: part(key, tensor, rank, newer) for key, tensor in model.items()}
            if not newer:
                own["rope.freqs"] = torch.ones(HEAD_DIM // 2)
            torch.save(own, os.path.join(to, f"consolidated.{rank:02d}.pth"))
    to = os.path.join(folder, "hf")
    os.makedirs(to, exist_ok=True)
    save_file(hugging_face(model), os.path.join(to, "model.safetensors"), {"format": "pt"})
    write_json(os.path.join(to, "config.json"), {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": FFN,
        "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": GROUPS, "vocab_size": VOCAB,
        "rms_norm_eps": 1e-05, "tie_word_embeddings": False})


main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "meta"))
