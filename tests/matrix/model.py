# SPDX-License-Identifier: Apache-2.0
"""A small decoder as one process holds it: names of Megatron core's modules, odd sizes."""
import dataclasses

import numpy as np


@dataclasses.dataclass
class Model:
    groups: int = 2
    experts: int = 0
    tied: bool = False
    layers: int = 4
    heads: int = 4
    head_dim: int = 6
    ffn: int = 28
    vocab: int = 131

    @property
    def hidden(self):
        return self.heads * self.head_dim

    @property
    def qkv_rows(self):
        return (self.heads + 2 * self.groups) * self.head_dim

    def weights(self, seed=3):
        random = np.random.default_rng(seed)
        make = lambda *shape: random.standard_normal(shape).astype(np.float32)
        made = {"embedding.word_embeddings.weight": make(self.vocab, self.hidden)}
        for layer in range(self.layers):
            name = f"decoder.layers.{layer}."
            made[name + "input_layernorm.weight"] = make(self.hidden)
            made[name + "self_attention.linear_qkv.weight"] = make(self.qkv_rows, self.hidden)
            made[name + "self_attention.linear_qkv.bias"] = make(self.qkv_rows)
            made[name + "self_attention.linear_proj.weight"] = make(self.hidden, self.hidden)
            made[name + "pre_mlp_layernorm.weight"] = make(self.hidden)
            if self.experts:
                made[name + "mlp.router.weight"] = make(self.experts, self.hidden)
            mlps = [f"mlp.experts.local_experts.{e}." for e in range(self.experts)] or ["mlp."]
            for mlp in mlps:
                made[name + mlp + "linear_fc1.weight"] = make(2 * self.ffn, self.hidden)
                made[name + mlp + "linear_fc2.weight"] = make(self.hidden, self.ffn)
        made["decoder.final_layernorm.weight"] = make(self.hidden)
        if not self.tied:
            made["output_layer.weight"] = make(self.vocab, self.hidden)
        return made

    def hugging_face(self, weights):
        """The same as transformers names and cuts it (converted by slices, not by maps of boxes)."""
        made = {}
        width, rows = self.heads // self.groups * self.head_dim, self.head_dim
        for name, value in weights.items():
            if name == "embedding.word_embeddings.weight":
                made["model.embed_tokens.weight"] = value
            elif name == "output_layer.weight":
                made["lm_head.weight"] = value
            elif name == "decoder.final_layernorm.weight":
                made["model.norm.weight"] = value
            else:
                _, _, layer, part = name.split(".", 3)
                new = f"model.layers.{layer}."
                if "linear_qkv" in part:
                    groups = np.split(value, self.groups)
                    kind = part.rsplit(".", 1)[1]
                    for key, low, high in (("q", 0, width), ("k", width, width + rows), ("v", width + rows, None)):
                        made[f"{new}self_attn.{key}_proj.{kind}"] = np.concatenate([g[low:high] for g in groups])
                elif part.endswith("linear_fc1.weight"):
                    mlp = part[:-len("linear_fc1.weight")].replace("local_experts.", "")
                    made[new + mlp + "gate_proj.weight"], made[new + mlp + "up_proj.weight"] = np.split(value, 2)
                elif part.endswith("linear_fc2.weight"):
                    mlp = part[:-len("linear_fc2.weight")].replace("local_experts.", "")
                    made[new + mlp + "down_proj.weight"] = value
                else:
                    made[new + {"input_layernorm.weight": "input_layernorm.weight",
                                "pre_mlp_layernorm.weight": "post_attention_layernorm.weight",
                                "self_attention.linear_proj.weight": "self_attn.o_proj.weight",
                                "mlp.router.weight": "mlp.gate.weight"}[part]] = value
        return made

    def joined(self, hugging_face, turned):
        """The same with a layer's experts in one tensor, as transformers 5 holds them in memory; or transposed (Llama 4)."""
        made = {n: v for n, v in hugging_face.items() if ".experts." not in n}
        for layer in range(self.layers):
            of = f"model.layers.{layer}.mlp.experts."
            part = lambda kind: [hugging_face[f"{of}{expert}.{kind}_proj.weight"] for expert in range(self.experts)]
            gate_up = np.stack([np.concatenate(pair) for pair in zip(part("gate"), part("up"))])
            down = np.stack(part("down"))
            made[of + "gate_up_proj"] = gate_up.swapaxes(1, 2) if turned else gate_up
            made[of + "down_proj"] = down.swapaxes(1, 2) if turned else down
        return made
