#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A wheel of an installed tree: the program, its pages and completions, with nothing of Python in it.

    wheel.py TREE VERSION TAG FOLDER      prints the wheel's path
"""
import base64
import hashlib
import os
import sys
import time
import zipfile

METADATA = """Metadata-Version: 2.1
Name: ttcheck
Version: {version}
Summary: Tell where two trainings of a deep-learning model diverge, from their checkpoints and traces
License: Apache-2.0
Keywords: deep-learning,checkpoint,debugging,reproducibility
Classifier: Environment :: Console
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """Wheel-Version: 1.0
Generator: ttcheck's script/package
Root-Is-Purelib: false
Tag: {tag}
"""


def files_of(tree):
    """Path below the tree, and how it is called in a wheel: what is in bin is a script, the rest is data."""
    for folder, folders, names in os.walk(tree):
        folders.sort()
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), tree)
            yield path, f"scripts/{path[4:]}" if path.startswith("bin/") else f"data/{path}"


def main():
    tree, version, tag, folder = sys.argv[1:]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    name = f"ttcheck-{version}"
    path = os.path.join(folder, f"{name}-{tag}.whl")
    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    records = []

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(inside, data, mode=0o644):
            entry = zipfile.ZipInfo(inside, when)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{inside},sha256={digest},{len(data)}")

        def text_of(own):
            with open(os.path.join(source, own), encoding="utf-8") as file:
                return file.read()

        for path_in_tree, inside in files_of(tree):
            with open(os.path.join(tree, path_in_tree), "rb") as file:
                data = file.read()
            add(f"{name}.data/{inside}", data, 0o755 if inside.startswith("scripts/") else 0o644)
        info = f"{name}.dist-info"
        for own in ("LICENSE", "THIRD-PARTY.md"):
            add(f"{info}/licenses/{own}", text_of(own).encode())
        add(f"{info}/METADATA", METADATA.format(version=version, readme=text_of("README.md")).encode())
        add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
        records.append(f"{info}/RECORD,,\n")
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD", when), "\n".join(records))
    print(path)


main()
