# SPDX-License-Identifier: Apache-2.0
"""Makes samples/recorded: one step of a small Llama, trained in several ways and recorded by `collector/`.

    python samples/make_recorded.py [FOLDER]      (torch 2.5 or later, safetensors)
"""
import os
import shutil
import sys

import torch.multiprocessing as mp

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "tests", "collector"), os.path.join(HERE, "collector")]

WAYS = {"one": 1, "ddp2": 2, "accumulate4": 1, "compile": 1, "pp2-gpipe": 2}


def run(rank, folder, way, port):
    import models
    import train
    models.VOCAB, models.HIDDEN, models.LENGTH, train.STEPS = 24, 16, 6, 1
    train.train(rank, folder, "llama", way, "", port)


def main(root):
    for i, (way, ranks) in enumerate(WAYS.items()):
        folder = os.path.join(root, way)
        shutil.rmtree(folder, ignore_errors=True)
        mp.spawn(run, (folder, way, 29540 + i), nprocs=ranks)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "recorded"))
