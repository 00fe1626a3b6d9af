# SPDX-License-Identifier: Apache-2.0
"""Makes samples/deepspeed: one small trained state as DeepSpeed writes it, on two ranks.

    python samples/make_deepspeed.py [FOLDER]      (torch, deepspeed)
"""
import os
import shutil
import subprocess
import sys
import tempfile

import torch


class Net(torch.nn.Module):
    """Odd sizes, so that partitions need padding; the head is tied to the embedding."""
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(11, 5)
        self.norm = torch.nn.LayerNorm(5)
        self.head = torch.nn.Linear(5, 11, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("shift", torch.arange(3.0))

    def forward(self, ids):
        return self.head(self.norm(self.embed(ids))).float().square().mean()


def train(folder, stage):
    import deepspeed
    torch.set_num_threads(1)
    deepspeed.init_distributed("gloo")
    torch.manual_seed(11)
    net = Net()
    groups = [{"params": [net.embed.weight], "weight_decay": 0.1},
              {"params": list(net.norm.parameters()), "weight_decay": 0.0}]
    config = {"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": True},
              "zero_allow_untested_optimizer": True, "steps_per_print": 1000,
              "zero_optimization": {"stage": stage}}
    engine, *_ = deepspeed.initialize(
        model=net, optimizer=torch.optim.AdamW(groups, lr=1e-2), config=config)
    for step in range(2):
        ids = (torch.arange(6)[None] + step + torch.distributed.get_rank()) % 11
        engine.backward(engine(ids))
        engine.step()
    engine.save_checkpoint(folder, client_state={"universal_checkpoint_info": {
        "universal_checkpoint_version": 0.2, "original_vocab_size": 11}})


def run(folder, stage):
    shutil.rmtree(folder, ignore_errors=True)
    environment = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT="29611", WORLD_SIZE="2",
                       DS_ACCELERATOR="cpu")
    ranks = [subprocess.Popen([sys.executable, __file__, "--train", folder, str(stage)],
                              env=dict(environment, RANK=str(r), LOCAL_RANK=str(r)))
             for r in range(2)]
    if any(process.wait() for process in ranks):
        sys.exit("a rank failed")
    for name in os.listdir(folder):
        if name.endswith(".py"):
            os.remove(os.path.join(folder, name))


def main(folder):
    run(os.path.join(folder, "zero2"), 2)
    run(os.path.join(folder, "zero3"), 3)
    universal = os.path.join(folder, "universal")
    shutil.rmtree(universal, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        tag = os.path.join(folder, "zero2", "global_step2")
        made = os.path.join(work, "global_step2_universal")
        subprocess.run([sys.executable, "-m", "deepspeed.checkpoint.ds_to_universal",
                        "--input_folder", tag, "--output_folder", made,
                        "--num_extract_workers", "1", "--num_merge_workers", "1"], check=True)
        shutil.rmtree(os.path.join(made, "tmp"), ignore_errors=True)
        shutil.copytree(made, os.path.join(universal, "global_step2_universal"))
    with open(os.path.join(universal, "latest_universal"), "w") as tracker:
        tracker.write("global_step2_universal")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--train"]:
        train(sys.argv[2], int(sys.argv[3]))
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else
             os.path.join(os.path.dirname(os.path.abspath(__file__)), "deepspeed"))
