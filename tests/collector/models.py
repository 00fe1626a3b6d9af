# SPDX-License-Identifier: Apache-2.0
"""Small models of the four kinds, in plain PyTorch; `hf-llama` and `hf-gpt2` are those of transformers. Each can be one
stage of a pipeline: what the stage lacks is None."""
import torch
from torch import nn

VOCAB, HIDDEN, LAYERS, LENGTH = 96, 32, 2, 12


def hf_llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(vocab_size=VOCAB, hidden_size=HIDDEN, intermediate_size=64, num_hidden_layers=LAYERS,
                                        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64))


def hf_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(vocab_size=VOCAB, n_embd=HIDDEN, n_layer=LAYERS, n_head=4, n_positions=64,
                                      resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))


class Config:
    def __init__(self):
        self.hidden_size, self.num_hidden_layers, self.vocab_size = HIDDEN, LAYERS, VOCAB
        self.num_attention_heads, self.num_key_value_heads = 4, 2


class RotaryEmbedding(nn.Module):
    theta = 10000.0

    def forward(self, x):
        width = HIDDEN // 4
        places = torch.arange(x.shape[1], dtype=torch.float32)
        angles = places[:, None] / self.theta ** (torch.arange(0, width, 2) / width)
        angles = torch.cat((angles, angles), -1)[None]
        return angles.cos(), angles.sin()


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos[:, None] + turned * sin[:, None]


class Attention(nn.Module):
    turn, causal = staticmethod(rotated), True

    def __init__(self, rotary=True, bias=False, kv_heads=2):
        super().__init__()
        self.width, self.rotary = HIDDEN // 4, rotary
        self.q_proj = nn.Linear(HIDDEN, HIDDEN, bias=bias)
        self.k_proj, self.v_proj = (nn.Linear(HIDDEN, kv_heads * self.width, bias=bias) for _ in range(2))
        self.o_proj = nn.Linear(HIDDEN, HIDDEN, bias=bias)

    def forward(self, x, cos=None, sin=None):
        q, k, v = (one.unflatten(-1, (-1, self.width)).transpose(1, 2) for one in (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        if self.rotary:
            q, k = self.turn(q, cos, sin), self.turn(k, cos, sin)
        k, v = (one.repeat_interleave(q.shape[1] // one.shape[1], 1) for one in (k, v))
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.o_proj(out.transpose(1, 2).flatten(2))


class GatedMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(HIDDEN, 2 * HIDDEN, bias=False) for _ in range(2))
        self.down_proj, self.act_fn = nn.Linear(2 * HIDDEN, HIDDEN, bias=False), nn.SiLU()

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class LlamaLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = (nn.RMSNorm(HIDDEN, eps=1e-5) for _ in range(2))
        self.self_attn, self.mlp = Attention(), GatedMLP()

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Staged(nn.Module):
    """embed, layers, norm, head: a whole model, or a stage of which some are None."""

    def forward(self, x):
        if self.embed is not None:
            x = self.begin(x)
        more = self.beside(x)
        for layer in self.layers.values():
            x = layer(x, *more)
        return x if self.head is None else self.finish(x)

    def begin(self, x):
        return self.embed(x)

    def beside(self, x):
        return ()

    def finish(self, x):
        return self.head(self.norm(x))


def layers_of(kind):
    return nn.ModuleDict({str(i): kind() for i in range(LAYERS)})


class Llama(Staged):
    def __init__(self):
        super().__init__()
        self.config = Config()
        self.embed, self.rotary_emb, self.layers = nn.Embedding(VOCAB, HIDDEN), RotaryEmbedding(), layers_of(LlamaLayer)
        self.norm, self.head = nn.RMSNorm(HIDDEN, eps=1e-5), nn.Linear(HIDDEN, VOCAB, bias=False)

    def beside(self, x):
        return self.rotary_emb(x)


class GPT2Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = (nn.LayerNorm(HIDDEN) for _ in range(2))
        self.attn = Attention(rotary=False, bias=True, kv_heads=4)
        self.c_fc, self.act, self.c_proj = nn.Linear(HIDDEN, 128), nn.GELU(approximate="tanh"), nn.Linear(128, HIDDEN)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(self.act(self.c_fc(self.ln_2(x))))


class GPT2(Staged):
    def __init__(self):
        super().__init__()
        self.config = Config()
        self.embed, self.places, self.layers = nn.Embedding(VOCAB, HIDDEN), nn.Embedding(64, HIDDEN), layers_of(GPT2Layer)
        self.norm, self.head = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, VOCAB, bias=False)

    def begin(self, x):
        return self.embed(x) + self.places(torch.arange(x.shape[1]))


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.act, self.down = nn.Linear(HIDDEN, 48), nn.GELU(), nn.Linear(48, HIDDEN)

    def forward(self, x):
        return self.down(self.act(self.up(x)))


class MoELayer(nn.Module):
    def __init__(self, experts=4):
        super().__init__()
        self.norm, self.router = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, experts, bias=False)
        self.experts = nn.ModuleList(Expert() for _ in range(experts))

    def forward(self, x):
        flat = self.norm(x).flatten(0, 1)
        weights, chosen = self.router(flat).softmax(-1).max(-1)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            tokens = (chosen == i).nonzero().squeeze(-1)
            if len(tokens):
                made = expert(flat[tokens]) * weights[tokens, None]
                out = out.index_add(0, tokens, made.to(out.dtype))  # under autocast it is of another
        return x + out.view_as(x)


class MoE(Staged):
    def __init__(self):
        super().__init__()
        self.embed, self.layers = nn.Embedding(VOCAB, HIDDEN), layers_of(MoELayer)
        self.norm, self.head = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, VOCAB, bias=False)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.GroupNorm(4, width)
        self.conv2, self.norm2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.GroupNorm(4, width)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(x + self.norm2(self.conv2(self.act(self.norm1(self.conv1(x))))))


class ResNet(Staged):
    def __init__(self):
        super().__init__()
        self.embed, self.layers = nn.Conv2d(3, 16, 3, padding=1), layers_of(lambda: Block(16))
        self.norm, self.head = nn.GroupNorm(4, 16), nn.Linear(16, 10)

    def finish(self, x):
        return self.head(self.norm(x).mean((2, 3)))


MODELS = {"llama": Llama, "gpt2": GPT2, "moe": MoE, "resnet": ResNet, "hf-llama": hf_llama, "hf-gpt2": hf_gpt2}


def batch_of(kind, step, size=8):
    """(inputs, targets) of the whole batch of a step."""
    draw = torch.Generator().manual_seed(1000 + step)
    if kind == "resnet":
        return torch.randn(size, 3, 8, 8, generator=draw), torch.randint(0, 10, (size,), generator=draw)
    tokens = torch.randint(0, VOCAB, (size, LENGTH + 1), generator=draw)
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def loss_of(output, targets):
    logits = output if isinstance(output, torch.Tensor) else output.logits
    return nn.functional.cross_entropy(logits.flatten(0, -2).float(), targets.flatten())
