# SPDX-License-Identifier: Apache-2.0
"""One run: the model, the data, the layout and the training. The defaults are one rank in fp32."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Config:
    # the model
    layers: int = 2
    hidden: int = 32
    heads: int = 8
    kv_heads: int = 4  # never heads // kv_heads == kv_heads, under which a wrong head count is right
    ffn: int = 44
    vocab: int = 67  # prime: no number of ranks divides it
    experts: int = 0
    tied: bool = False
    theta: float = 10000.0
    eps: float = 1e-5
    dropout: float = 0.0
    window: int = 0  # positions that attention looks back; 0: all
    documents: int = 1  # in each row of a batch
    frozen: tuple = ()  # parameters that are not trained, by name

    # the data
    batch: int = 8
    seq: int = 16
    seed: int = 1
    batch_seed: int = 1
    masked_rows: tuple = ()  # rows of the batch without a token that counts

    # the layout
    pp: int = 1
    dp: int = 1
    ep: int = 1
    cp: int = 1
    tp: int = 1
    sp: bool = False  # sequence parallel: the residual stream is cut over tp
    zero: int = 0  # 1: optimizer state is cut over dp; 3: parameters as well
    align: int = 1  # of ZeRO's shards
    mb: int = 1  # micro-batches
    recompute: bool = False

    # the arithmetic
    precision: str = "fp32"
    moments: str = "fp32"  # how moments are stored
    pieces: int = 1  # of the inner dimension of matrix products
    scatter: str = "forward"  # the order in which embedding gradients are added
    norm: str = "cast-then-weight"  # or "weight-then-cast"
    nudge: float = 0.0  # relative size of a random change of the embedding's output
    nudge_seed: int = 0
    flush: bool = False  # denormal numbers become 0

    # the training
    first: int = 1  # first step that is recorded; those before it are only run
    last: int = 2
    lr: float = 2e-3
    betas: tuple = (0.9, 0.95)
    adam_eps: float = 1e-8
    decay: float = 0.1
    clip: float = 1.0
    loss_scale: float = 1.0

    # the trace
    prefix: str = ""  # of every module's name
    names: str = ""  # "hf": projections are called as in Hugging Face's models
    split: bool = False  # q, k, v, gate and up are modules of their own

    @property
    def head_dim(self):
        return self.hidden // self.heads

    @property
    def world(self):
        return self.pp * self.dp * self.ep * self.cp * self.tp

    def changed(self, **change):
        return dataclasses.replace(self, **change)


AXES = ("pp", "dp", "ep", "cp", "tp")  # slowest first


def coordinates(config, rank):
    at = {}
    for axis in reversed(AXES):
        rank, at[axis] = divmod(rank, getattr(config, axis))
    return at


def where(config, **at):
    """The ranks with these coordinates."""
    return tuple(r for r in range(config.world) if all(coordinates(config, r)[a] == i for a, i in at.items()))
