# SPDX-License-Identifier: Apache-2.0
"""A safetensors file, as the makers of samples and the tests write one that no framework has to have written."""
import json
import os
import struct

CODES = {"f2": "F16", "f4": "F32", "f8": "F64", "c8": "C64", "b1": "BOOL", "u1": "U8", "i1": "I8", "u2": "U16", "i2": "I16",
         "u4": "U32", "i4": "I32", "u8": "U64", "i8": "I64"}


def bf16_codes(codes):
    """The 16 bits of each number, which NumPy has no dtype for."""
    return "BF16", codes.shape, codes.tobytes()


def f32(values):
    """Numbers of a list."""
    return "F32", (len(values),), struct.pack(f"<{len(values)}f", *values)


def safetensors(path, tensors, notes=None):
    """`tensors`: names, each with an array of NumPy's or (dtype, shape, bytes); `notes`: the header's own words."""
    header, data, at = {"__metadata__": notes} if notes else {}, [], 0
    for name, tensor in tensors.items():
        if not isinstance(tensor, tuple):
            tensor = CODES[tensor.dtype.str[1:]], tensor.shape, tensor.tobytes()
        dtype, shape, raw = tensor
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(raw)]}
        data.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))
