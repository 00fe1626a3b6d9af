#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The comparison that people write by hand today, as a peer of `ttcheck diff`.

    torch_peer.py save A.safetensors A.pt    the same tensors as torch.save writes them
    torch_peer.py quick A.pt B.pt            torch.equal, then largest |d|, cosine, relative norm
    torch_peer.py full A.pt B.pt             all counts, maxima, indices and sums of ttcheck's pass
"""
import sys

import torch

INTEGERS = {2: torch.int16, 4: torch.int32}


def load(path):
    return torch.load(path, map_location="cpu", mmap=True)


def save(source, target):
    from safetensors.torch import load_file

    torch.save(load_file(source), target)


def quick(a, b):
    for name, x in a.items():
        y = b[name]
        if torch.equal(x, y):
            continue
        x, y = x.float().flatten(), y.float().flatten()
        yield (name, (x - y).abs().max().item(),
               torch.nn.functional.cosine_similarity(x, y, dim=0).item(),
               ((x - y).norm() / x.norm()).item())


def full(a, b):
    for name, x in a.items():
        y = b[name]
        bits = INTEGERS[x.element_size()]
        unequal = int((x.view(bits) != y.view(bits)).sum())
        x, y = x.float(), y.float()
        finite = torch.isfinite(x) & torch.isfinite(y)
        odd = [int(test(side).sum()) for side in (x, y) for test in (torch.isnan, torch.isinf)]
        if not bool(finite.all()):
            zero = torch.zeros(())
            x, y = torch.where(finite, x, zero), torch.where(finite, y, zero)
        distance = (x - y).abs()
        index = int(distance.argmax())
        relative = float((distance / torch.maximum(x.abs(), y.abs()).clamp_min(1e-38)).max())
        beyond = int((distance > 1e-6 + 1e-3 * x.abs()).sum())
        sums = [float(torch.sum(u * u, dtype=torch.float64)) for u in (distance, x, y)]
        yield name, unequal, odd, index, float(distance.flatten()[index]), relative, beyond, sums


def main():
    what, left, right = sys.argv[1:]
    if what == "save":
        return save(left, right)
    rows = list({"quick": quick, "full": full}[what](load(left), load(right)))
    print(len(rows), "rows")


main()
