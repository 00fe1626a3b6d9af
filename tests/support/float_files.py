# SPDX-License-Identifier: Apache-2.0
"""Writes safetensors files of f32 vectors, without NumPy."""
import json
import struct


def write(path, tensors):
    """`tensors`: pairs of a name and its values."""
    header, data, at = {}, [], 0
    for name, values in tensors:
        header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [at, at + 4 * len(values)]}
        at += 4 * len(values)
        data.append(struct.pack(f"<{len(values)}f", *values))
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))
