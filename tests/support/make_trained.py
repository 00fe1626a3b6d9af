#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""States that training moved from one start, as safetensors: `make_trained.py FOLDER NAME...` writes FOLDER/NAME.safetensors.
    start      the ancestor
    trained    a training since then
    rounding   the same in other arithmetic: apart by 1e-4 of the way
    products   the same with products of 16 bits: 1 % of the way, in no direction
    rate       the same, 2 % further
    decay      the same, and 1 % of the way towards zero
    data       another way, as long
    turned     trained, one value of which went the other way
    flipped    trained, one value of which has a flipped bit, and is as far off
"""
import os
import random
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples"))
from write import f32, safetensors  # noqa: E402

LAYERS, SIDE = 6, 32
STEP = 2e-3  # of a weight, which is about 1


def values(word, layer):
    draw = random.Random(f"{word}{layer}")
    return [draw.gauss(0, 1) for _ in range(SIDE * SIDE)]


def state(name):
    made = {}
    for layer in range(LAYERS):
        start, way, other = (values(word, layer) for word in ("start", "way", "other"))
        gone = {"start": lambda s, w, o: 0.0, "trained": lambda s, w, o: w, "rounding": lambda s, w, o: w + 1e-4 * o,
                "products": lambda s, w, o: w + 1e-2 * o, "rate": lambda s, w, o: 1.02 * w,
                "decay": lambda s, w, o: w - 1e-2 * s, "data": lambda s, w, o: o}.get(name, lambda s, w, o: w)
        made[f"layers.{layer}.weight"] = [s + STEP * gone(s, w, o) for s, w, o in zip(start, way, other)]
    first = made["layers.0.weight"]
    if name == "turned":
        first[0] -= 2 * STEP * values("way", 0)[0]
    if name == "flipped":
        bits, = struct.unpack("<I", struct.pack("<f", first[0]))
        first[0], = struct.unpack("<f", struct.pack("<I", bits ^ 1 << 14))
    return made


for name in sys.argv[2:]:
    made = {key: ("F32", (SIDE, SIDE), f32(values)[2]) for key, values in state(name).items()}
    safetensors(os.path.join(sys.argv[1], name + ".safetensors"), made)
