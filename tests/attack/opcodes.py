# SPDX-License-Identifier: Apache-2.0
"""Pickles opcode by opcode (protocol 4), also such as no pickler writes; and what torch.save and DCP make of them."""
import os
import struct
import zipfile

TABLE, FILES = "torch.distributed.checkpoint.metadata", "torch.distributed.checkpoint.filesystem"


class Opcodes:
    def __init__(self):
        self.bytes, self.kept = bytearray(b"\x80\x04"), 0

    def raw(self, code):
        self.bytes += code

    def text(self, value):
        self.bytes += b"X" + struct.pack("<I", len(value)) + value.encode()

    def number(self, value):
        self.bytes += b"J" + struct.pack("<i", value)

    def numbers(self, values):
        self.raw(b"(")
        for value in values:
            self.number(value)
        self.raw(b"t")

    def named(self, module, name):
        self.text(module)
        self.text(name)
        self.raw(b"\x93")

    def keep(self):
        """What stands on top, to be had again by the number returned."""
        self.raw(b"\x94")
        self.kept += 1
        return self.kept - 1

    def again(self, number):
        self.bytes += b"j" + struct.pack("<I", number)

    def dict(self, write):
        """`write()` writes keys and values in turn."""
        self.raw(b"}(")
        write()
        self.raw(b"u")

    def made(self, module, name, write):
        """An object with a dict of attributes."""
        self.named(module, name)
        self.raw(b")\x81")
        self.dict(write)
        self.raw(b"b")


def row(out, at, count, all_of):
    """Elements of a storage of floats."""
    out.named("torch._utils", "_rebuild_tensor_v2")
    out.raw(b"((")
    out.text("storage")
    out.named("torch", "FloatStorage")
    out.text("0")
    out.text("cpu")
    out.number(all_of)
    out.raw(b"tQ")
    out.number(at)
    out.numbers([count])
    out.numbers([1])
    out.raw(b"\x89")
    out.named("collections", "OrderedDict")
    out.raw(b")RtR")


def archive(path, write, floats):
    """A file of torch.save."""
    out = Opcodes()
    write(out)
    out.raw(b".")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as made:
        made.writestr("archive/data.pkl", bytes(out.bytes))
        made.writestr("archive/data/0", bytes(4 * floats))
        made.writestr("archive/version", "3\n")


def tensor(out, name, shape):
    """An entry of a table: one chunk."""
    def chunk():
        out.text("offsets")
        out.numbers([0] * len(shape))
        out.text("sizes")
        out.numbers(shape)

    def state():
        out.text("size")
        out.numbers(shape)
        out.text("properties")
        out.named(TABLE, "TensorProperties")
        out.raw(b")\x81(")
        out.named("torch", "float32")
        out.raw(b"tb")
        out.text("chunks")
        out.raw(b"](")
        out.made(TABLE, "ChunkStorageMetadata", chunk)
        out.raw(b"e")
    out.text(name)
    out.made(TABLE, "TensorStorageMetadata", state)


def place(out, offset=0):
    def state():
        for name, value in ("relative_path", "__0_0.distcp"), ("offset", offset), ("length", 16):
            out.text(name)
            out.number(value) if isinstance(value, int) else out.text(value)
    out.made(FILES, "_StorageInfo", state)


def table(folder, entries, places=lambda out: None, size=16):
    """A folder of torch.distributed.checkpoint of one file of `size` bytes."""
    out = Opcodes()

    def state():
        out.text("state_dict_metadata")
        out.dict(lambda: entries(out))
        out.text("storage_data")
        out.dict(lambda: places(out))
    out.made(TABLE, "Metadata", state)
    out.raw(b".")
    with open(os.path.join(folder, ".metadata"), "wb") as file:
        file.write(out.bytes)
    with open(os.path.join(folder, "__0_0.distcp"), "wb") as file:
        file.write(bytes(size))
