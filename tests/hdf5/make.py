#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/hdf5: small HDF5 files with every way of storing an array that traces use, and
links that must not be followed, types that are no tensor's, odd names. Element i of each array is i / 2 - 3 (or i, where the
type holds no fractions), so tests know the values without these files.

    python tests/hdf5/make.py [FOLDER]      (h5py, numpy)
"""
import json
import os
import sys

import h5py
import numpy as np


def values(shape, dtype):
    count = int(np.prod(shape))
    flat = np.arange(count)
    return (flat / 2 - 3 if np.dtype(dtype).kind in "fc" else flat).astype(dtype).reshape(shape)


def write_storage(path, libver):
    with h5py.File(path, "w", libver=libver, track_order=False) as f:
        group = f.create_group("storage")
        group["contiguous"] = values((3, 5), "<f4")
        group["scalar"] = np.float32(-3)
        group["empty"] = values((0, 4), "<f4")
        group.create_dataset("chunked", data=values((7, 10), "<f4"), chunks=(3, 4))
        group.create_dataset("growing", data=values((7, 10), "<f4"), chunks=(3, 4), maxshape=(None, None))
        group.create_dataset("rows", data=values((9, 4), "<f4"), chunks=(2, 4), maxshape=(None, 4))
        group.create_dataset("gzip", data=values((7, 10), "<f4"), chunks=(3, 4), compression="gzip")
        group.create_dataset("shuffle", data=values((7, 10), "<f8"), chunks=(4, 4), shuffle=True)
        group.create_dataset("fletcher32", data=values((7, 5), "<i2"), chunks=(3, 3), fletcher32=True)
        group.create_dataset("all", data=values((5, 6, 7), "<f4"), chunks=(2, 4, 3), compression="gzip",
                             shuffle=True, fletcher32=True)
        group.create_dataset("one", data=values((4, 4), "<f4"), chunks=(4, 4), compression="gzip")
        holes = group.create_dataset("holes", shape=(6, 6), dtype="<f4", chunks=(2, 3), fillvalue=7)
        holes[2:4, 3:6] = 1
        group.create_dataset("never", shape=(4, 3), dtype="<f4", fillvalue=-2)
        group.create_dataset("lzf", data=values((7, 10), "<f4"), chunks=(3, 4), compression="lzf")
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((2, 3))
        dataset = h5py.h5d.create(group.id, b"compact", h5py.h5t.IEEE_F32LE, space, compact)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values((2, 3), "<f4"))
        types = f.create_group("types")
        for name in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"):
            types[name] = values((6,), "<" + name)
        types["big_f4"] = values((6,), ">f4")
        types["bool"] = np.array([False, True, True])
        types["text"] = "words"
        fixed = group["contiguous"]
        fixed.attrs.create("ttcheck", np.bytes_(b'{"fixed":1}'))
        group["gzip"].attrs["ttcheck"] = '{"variable":1}'
        group["all"].attrs["ttcheck"] = np.arange(3)
        group["chunked"].attrs["other"] = "x"


def write_links(path):
    with h5py.File(path, "w", libver="latest") as f:
        f["a/weight"] = values((2, 2), "<f4")
        f["a/same"] = f["a/weight"]
        f["a/soft"] = h5py.SoftLink("/a/weight")
        f["a/dangling"] = h5py.SoftLink("/nowhere")
        f["a/ring"] = h5py.SoftLink("/a/ring")
        f["a/up"] = h5py.SoftLink("/")
        f["a/self"] = f["a"]
        f["a/root"] = f["/"]
        f.create_dataset("b/chunked", data=values((7, 10), "<f4"), chunks=(3, 4))
        f["b/again"] = f["b/chunked"]
        f["b/soft"] = h5py.SoftLink("/b/again")
        f["a/outside"] = h5py.ExternalLink("/etc/passwd", "/x")


def write_outside(path):
    with h5py.File(path, "w", libver="latest") as f:
        f["weight"] = values((2, 2), "<f4")
        f.create_dataset("external", shape=(8,), dtype="u1", external=[("/etc/passwd", 0, 8)])
        layout = h5py.VirtualLayout(shape=(4,), dtype="<f4")
        layout[:] = h5py.VirtualSource("/etc/hostname", "x", shape=(4,))
        f.create_virtual_dataset("virtual", layout)


def write_odd(path):
    """Types that are no tensor's, and names that nobody wants on a terminal."""
    with h5py.File(path, "w") as f:
        pair = np.dtype([("a", "<f4"), ("b", "<i8")])
        deep = np.dtype("<f4")
        for _ in range(40):
            deep = np.dtype([("inner", deep)])
        f["types/compound"] = np.zeros(3, pair)
        f["types/deep"] = np.zeros(2, deep)
        f.create_dataset("types/enum", data=[0, 2], dtype=h5py.enum_dtype({"ON": 0, "OFF": 2}, "<i2"))
        ragged = f.create_dataset("types/ragged", (2,), dtype=h5py.vlen_dtype("<f4"))
        ragged[0], ragged[1] = [1, 2], [3]
        f["types/opaque"] = np.array([b"ab", b"cd"], dtype="V2")
        f["types/reference"] = np.array([f["types/compound"].ref], dtype=h5py.ref_dtype)
        f["types/words"] = ["one", "two"]
        for name in ("names/\x1b[31mred", "names/two\nlines", "names/" + "n" * 5000, "names/a.b", "names/\u202eleft"):
            f[name] = values((2, 2), "<f4")


def write_user_block(path):
    with h5py.File(path, "w", userblock_size=1024) as f:
        f["weight"] = values((3, 5), "<f4")
        f.create_dataset("gzip", data=values((7, 10), "<f4"), chunks=(3, 4), compression="gzip")
    with open(path, "r+b") as file:
        file.write(b"what another program keeps here")


def write_keras(path):
    """As Keras 2 and 3 save a model that has a Lambda layer; the code is none."""
    layers = [{"class_name": "Dense", "config": {"name": "dense"}},
              {"class_name": "Lambda", "config": {"function": ["4wEAAA==", None, None]}},
              {"class_name": "Lambda", "config": {"function": {
                  "class_name": "__lambda__", "config": {"code": "4wEAAA=="}}}}]
    with h5py.File(path, "w") as f:
        f.attrs["keras_version"] = "3.0.0"
        f.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {"layers": layers}})
        f["model_weights/dense/dense/kernel:0"] = values((2, 2), "<f4")


def write_freed(path):
    """Free space is managed and kept in the file, and some is free."""
    with h5py.File(path, "w", libver="latest", fs_strategy="fsm", fs_persist=True) as f:
        for i in range(6):
            f[f"dropped{i}"] = values((50 + i,), "<f8")
        f["weight"] = values((3, 5), "<f4")
        for i in range(6):
            del f[f"dropped{i}"]


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "data", "hdf5")
    os.makedirs(folder, exist_ok=True)
    write_storage(os.path.join(folder, "earliest.h5"), "earliest")
    write_storage(os.path.join(folder, "latest.h5"), "latest")
    write_links(os.path.join(folder, "links.h5"))
    write_outside(os.path.join(folder, "outside.h5"))
    write_odd(os.path.join(folder, "odd.h5"))
    write_keras(os.path.join(folder, "keras.h5"))
    write_freed(os.path.join(folder, "freed.h5"))
    write_user_block(os.path.join(folder, "user-block.h5"))
