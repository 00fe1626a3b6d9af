# SPDX-License-Identifier: Apache-2.0
"""Makes the inputs of the golden cases `peer-*`: what other comparison tools got wrong, each small.

    python tests/data/peers/make.py [FOLDER]      (numpy, h5py)

The number is that of the case's golden test. Values are bfloat16 where the tool that failed was used on
them, else float32.
"""
import json
import os
import sys

import h5py
import numpy as np

from files import bf16, record, safetensors, trace

LAYOUT = """layout = 1
[mesh]
axes = ["tp=2"]
expert = ["ep=2"]
[files]
pattern = "rank-{rank}.safetensors"
[[tensor]]
match = "gate_up.weight"
dims = "(gate|up)[tp] h"
[[tensor]]
match = "down.weight"
dims = "h f[tp]"
[[tensor]]
match = "embed.weight"
dims = "v[tp:pad=7] h"
[[tensor]]
match = "uneven.weight"
dims = "x[tp:sizes=3/2] y"
[[tensor]]
match = "experts.{e}.weight"
dims = "*"
[[rename]]
match = "experts.{e}.weight"
to = "experts.{e + ep*2}.weight"
"""
RNG = np.random.default_rng(20)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def infinities(to):
    """+inf against -inf at one place (msprobe: cosine 1, no error)."""
    scores = normal(4, 8)
    sides = {}
    for side, value in (("reference", np.inf), ("candidate", -np.inf)):
        sides[side] = scores.copy()
        sides[side][2, 5] = value
        trace(f"{to}/{side}", [[record("forward", "layers.0.attn.scores", "output", sides[side])]])


def other_input(to):
    """The network's input was replaced, every op is right (msprobe: pass)."""
    weight = normal(8, 8)
    for side in ("reference", "candidate"):
        ids = RNG.integers(0, 8, (2, 4))
        embedded = weight[ids]
        trace(f"{to}/{side}", [[record("state", "embed", "param", weight, "weight"),
                                record("forward", "embed", "input", ids),
                                record("forward", "embed", "output", embedded),
                                record("forward", "layers.0", "output", embedded @ weight.T)]])


def zeroed(to):
    """31 % of an op's output are zero, and what follows is computed from it (msprobe: warning, then pass)."""
    weight, first = normal(16, 16), normal(64, 16)
    for side in ("reference", "candidate"):
        hidden = first.copy()
        if side == "candidate":
            hidden.flat[RNG.permutation(hidden.size)[: hidden.size * 31 // 100]] = 0
        trace(f"{to}/{side}", [[record("state", "layers.0.mlp.up", "param", weight, "weight"),
                                record("forward", "layers.0.mlp.up", "output", first),
                                record("forward", "layers.0.mlp.act", "output", hidden),
                                record("forward", "layers.0.mlp.down", "output", hidden @ weight)]])


def below_a_cosine(to):
    """Five outputs that a similarity of 1e-3 lets pass (SGLang): each must be found."""
    clean = [normal(50, 50) for _ in range(5)]
    scaled, noisy, zeroed, spiked, flipped = (array.copy() for array in clean)
    scaled *= np.float32(1.04)
    noisy += normal(50, 50) * np.float32(0.044)
    zeroed.flat[RNG.permutation(zeroed.size)[:3]] = 0
    spiked[31, 41] = 30
    flipped.flat[RNG.permutation(flipped.size)[:1]] *= -1
    for side, arrays in (("reference", clean), ("candidate", (scaled, noisy, zeroed, spiked, flipped))):
        trace(f"{to}/{side}", [[record("forward", f"layers.{i}.mlp", "output", array)
                                for i, array in enumerate(arrays)]])


def rows(to):
    """18 % of the rows of a result are garbage (aiter's check lets them pass)."""
    good = normal(100, 32)
    bad = good.copy()
    bad[40:58] = normal(18, 32)
    trace(f"{to}/reference", [[record("forward", "layers.0.moe", "output", bf16(good))]])
    trace(f"{to}/candidate", [[record("forward", "layers.0.moe", "output", bf16(bad))]])


def zeros(to):
    """All zero on both sides is equal (a cosine is NaN there)."""
    for side in ("reference", "candidate"):
        safetensors(f"{to}/{side}.safetensors", {"bias": np.zeros(16, np.float32), "weight": np.eye(4, dtype=np.float32)})


def non_finite(to):
    """Infinities that match; a NaN on both sides; a NaN on one."""
    plain = np.arange(8, dtype=np.float32)
    for name, value in (("inf", np.inf), ("nan", np.nan)):
        marked = plain.copy()
        marked[3] = value
        safetensors(f"{to}/{name}.safetensors", {"weight": marked, "other": plain})
    safetensors(f"{to}/plain.safetensors", {"weight": plain, "other": plain})


def nothing_common(to):
    """An output missing on one side; an empty folder; no name in common."""
    one, two = normal(4, 4), normal(4, 4)
    whole = [record("forward", f"layers.{i}", "output", array) for i, array in enumerate((one, two, one + two))]
    trace(f"{to}/whole", [whole])
    trace(f"{to}/one-less", [[whole[0], whole[2]]])
    safetensors(f"{to}/left.safetensors", {"left": one})
    safetensors(f"{to}/right.safetensors", {"right": normal(3)})


def tiny_values(to):
    """Values near 1e-20, one of them doubled (h5diff with a relative limit calls them equal)."""
    good = (1 + np.arange(64, dtype=np.float64).reshape(8, 8)) * 1e-20
    bad = good.copy()
    bad[5, 2] *= 2
    os.makedirs(to)
    for side, array in (("reference", good), ("candidate", bad)):
        with h5py.File(f"{to}/{side}.h5", "w") as file:
            file["weight"] = array
            file["one"] = np.ones(3)


def layouts(to):
    """gate|up over two tensor ranks, uneven rows, padded vocabulary, experts: the same state whole and cut."""
    gate, up, down = normal(6, 4), normal(6, 4), normal(4, 6)
    vocabulary, norm, experts = normal(7, 4), normal(5, 3), [normal(2, 4) for _ in range(4)]
    whole = {"gate_up.weight": np.concatenate((gate, up)), "down.weight": down, "embed.weight": vocabulary,
             "uneven.weight": norm}
    whole.update({f"experts.{i}.weight": array for i, array in enumerate(experts)})
    safetensors(f"{to}/whole/model.safetensors", whole)
    padded = np.concatenate((vocabulary, np.full((1, 4), 9, np.float32)))
    for rank in range(2):
        half = slice(3 * rank, 3 * rank + 3)
        cut = {"gate_up.weight": np.concatenate((gate[half], up[half])), "down.weight": down[:, half],
               "embed.weight": padded[4 * rank : 4 * rank + 4],
               "uneven.weight": norm[:3] if rank == 0 else norm[3:]}
        cut.update({f"experts.{i}.weight": experts[2 * rank + i] for i in range(2)})
        safetensors(f"{to}/cut/rank-{rank}.safetensors", cut)
    with open(f"{to}/cut/layout.toml", "w") as file:
        file.write(LAYOUT)


def first_rank(to):
    """Rank 0, sender of a pipeline, is the one that is wrong (msprobe drops a peer of number 0)."""
    hidden = normal(4, 8)
    for side in ("reference", "candidate"):
        sent = hidden.copy()
        if side == "candidate":
            sent[1] *= -1
        trace(f"{to}/{side}",
              [[record("forward", "layers.0", "output", hidden), record("comm", "send_forward", "comm_in", sent)],
               [record("comm", "recv_forward", "comm_out", sent), record("forward", "layers.1", "output", sent + 1)]],
              {"pp": 2})


def small_shapes(to):
    """Tensors of no dimension and of one element."""
    for side, step, gain in (("reference", 100, 0.5), ("candidate", 101, 0.25)):
        safetensors(f"{to}/{side}.safetensors", {"weight": np.ones((2, 2), np.float32), "count": np.int64(step),
                                                  "gain": np.array([gain], np.float32)})


def one_replica(to):
    """The same layout on both sides, four replicas, one of them off."""
    weight = normal(4, 4)
    for side in ("reference", "candidate"):
        ranks = []
        for rank in range(4):
            own = weight.copy()
            if side == "candidate" and rank == 2:
                own[3, 1] += 0.125
            ranks.append([record("sync", "layers.0.mlp", "main_grad", own, "weight")])
        trace(f"{to}/{side}", ranks, {"dp": 4})


def captured(to):
    """Every layer's dump is the same: the capture of a graph, not a run."""
    once = normal(4, 8)
    for side in ("reference", "candidate"):
        trace(f"{to}/{side}", [[record("forward", f"layers.{i}.mlp", "output", once) for i in range(12)]])


def full_ranks(to):
    """Data-parallel ranks that all hold something, one of them a single row (SGLang asserts that one is empty)."""
    hidden = normal(5, 4)
    trace(f"{to}/reference", [[record("forward", "layers.0", "output", hidden)]])
    trace(f"{to}/candidate", [[record("forward", "layers.0", "output", part, dims="b[dp:sizes=4/1] h")]
                              for part in (hidden[:4], hidden[4:])], {"dp": 2})


def other_root(to):
    """A converted checkpoint under another root, so that no name is the same (prime-rl)."""
    tensors = {f"layers.{i}.{name}.weight": normal(4, 4) for i in range(2) for name in ("up", "down")}
    safetensors(f"{to}/reference.safetensors", tensors)
    safetensors(f"{to}/candidate.safetensors", {f"policy.backbone.{name}": t for name, t in tensors.items()})


def inserted(to):
    """The same 247 ops, in one trace with 66 more between them (DebugMode: the lists are not compared)."""
    line = "    aten::{}  # {{'input_hash': (({}, {}), {{}}), 'hash': {}}}"
    log = [line.format(f"mm(t: f32[8, {i + 1}], t: f32[{i + 1}, 8])  ->  t: f32[8, 8]", i + 0.25, i + 0.5, i + 0.75)
           for i in range(247)]
    more = list(log)
    for i in range(66):
        more.insert(4 * i + 2, line.format(f"add(t: f32[{i + 1}], t: f32[{i + 1}])  ->  t: f32[{i + 1}]",
                                           i + 0.125, i + 0.375, i + 0.625))
    for name, lines in (("reference", log), ("candidate", more)):
        os.makedirs(f"{to}/{name}")
        with open(f"{to}/{name}/rank-00000.txt", "w") as file:
            file.write("\n".join(lines) + "\n")


def cut_short(to):
    """The last line of the events was being written when the run died."""
    hidden = normal(2, 2)
    for side in ("reference", "candidate"):
        trace(f"{to}/{side}", [[record("forward", "layers.0", "output", hidden)]])
        with open(f"{to}/{side}/events.jsonl", "w") as file:
            file.write('{"step":1,"rank":0,"name":"loss","value":2.5}\n')
            file.write('{"step":1,"rank":0,"name":"grad_norm","va' if side == "candidate"
                       else '{"step":1,"rank":0,"name":"grad_norm","value":1.5}\n')


def exact(to):
    """One unit in the last place, under a tolerance of exactly 0 (PnetCDF takes 0 for "not given")."""
    weight = np.linspace(1, 2, 64, dtype=np.float32)
    safetensors(f"{to}/reference.safetensors", {"weight": weight})
    other = weight.copy()
    other[7] = np.nextafter(other[7], np.float32(2))
    safetensors(f"{to}/candidate.safetensors", {"weight": other})


def published(to):
    """Four pairs whose RMS and relative differences cprnc's test inputs publish."""
    control = np.arange(1, 11, dtype=np.float64)
    place, rising, two = control.copy(), control * (1 + np.arange(10) / 100), control.copy()
    place[9] *= 1.1
    two[8] *= 1.001
    two[9] *= 1.00001
    for name, array in (("control", control), ("all", control * 1.1), ("place", place), ("rising", rising),
                        ("two", two)):
        safetensors(f"{to}/{name}.safetensors", {"testvar": array})


CASES = [infinities, other_input, zeroed, below_a_cosine, rows, zeros, non_finite, nothing_common, tiny_values,
         layouts, first_rank, small_shapes, one_replica, captured, full_ranks, other_root, inserted, cut_short,
         exact, published]

if __name__ == "__main__":
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for number, case in enumerate(CASES, 1):
        case(f"{root}/{number:02}-{case.__name__.replace('_', '-')}")
