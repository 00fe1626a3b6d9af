# SPDX-License-Identifier: Apache-2.0
"""Makes samples/sharded: one training state of a small model as one process writes it, and as the ranks of
FSDP write it for transformers' Trainer (through accelerate) and for Lightning.

    python samples/make_sharded.py [FOLDER]      (torch, safetensors, transformers, accelerate, lightning)

All ranks see the same batch, so the mean of their gradients is that of one process, bit for bit.
"""
import os
import shutil
import sys
import tempfile
import types
import warnings

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import transformers
from torch.distributed.fsdp import fully_shard

RANKS = 2


def model():
    torch.manual_seed(5)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=19, hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=16))


def train(network):
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2, foreach=False)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    tokens = torch.arange(12)[None] % 19
    for _ in range(2):
        network(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return optimizer, schedule


def beside(folder, network, schedule):
    """What the Trainer writes itself (transformers/trainer.py, _save_checkpoint)."""
    torch.save(schedule.state_dict(), os.path.join(folder, "scheduler.pt"))
    state = transformers.TrainerState(global_step=2, max_steps=2, epoch=1.0)
    state.save_to_json(os.path.join(folder, "trainer_state.json"))


def single(root):
    network = model()
    optimizer, schedule = train(network)
    folder = os.path.join(root, "single", "checkpoint-2")
    os.makedirs(folder)
    network.save_pretrained(folder)
    os.remove(os.path.join(folder, "generation_config.json"))
    torch.save(optimizer.state_dict(), os.path.join(folder, "optimizer.pt"))
    torch.save({"cpu": torch.arange(8, dtype=torch.uint8)}, os.path.join(folder, "rng_state.pth"))
    beside(folder, network, schedule)


def sharded(rank, root):
    import accelerate
    from accelerate.utils import fsdp_utils
    from torch.distributed.fsdp import StateDictType
    warnings.simplefilter("ignore")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29537", GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    mesh = torch.distributed.init_device_mesh("cpu", (RANKS,))
    network = model()
    for layer in network.model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(network, mesh=mesh)
    optimizer, schedule = train(network)
    folder = os.path.join("fsdp", "checkpoint-2")
    os.chdir(root)  # the tables keep the path
    os.makedirs(folder, exist_ok=True)
    accelerate.PartialState(cpu=True)  # its logger wants one
    plugin = types.SimpleNamespace(state_dict_type=StateDictType.SHARDED_STATE_DICT, fsdp_version=2,
                                   state_dict_config=None, cpu_ram_efficient_loading=False)
    process = types.SimpleNamespace(process_index=rank, num_processes=RANKS, is_main_process=rank == 0)
    fsdp_utils.save_fsdp_model(plugin, process, network, folder)
    fsdp_utils.save_fsdp_optimizer(plugin, process, optimizer, network, folder)
    torch.save({"cpu": torch.arange(8, dtype=torch.uint8)}, os.path.join(folder, f"rng_state_{rank}.pth"))
    if rank == 0:
        beside(folder, network, schedule)
    dist.destroy_process_group()


LIGHTNING = '''
import sys, torch, lightning
from lightning.pytorch.strategies import ModelParallelStrategy
from torch.distributed.fsdp import fully_shard

path, ranks = sys.argv[1], int(sys.argv[2])


class Small(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.net = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.GELU(), torch.nn.Linear(4, 3))

    def configure_model(self):
        if ranks > 1:
            fully_shard(self.net, mesh=self.device_mesh["data_parallel"])

    def training_step(self, batch, _):
        return self.net(batch).square().mean()

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2, foreach=False)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


rows = torch.utils.data.DataLoader(torch.ones(2 * ranks, 5), batch_size=1)
strategy = ModelParallelStrategy(ranks, 1, process_group_backend="gloo") if ranks > 1 else "auto"
trainer = lightning.Trainer(accelerator="cpu", devices=ranks, strategy=strategy, max_epochs=1, logger=False,
                            enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False)
trainer.fit(Small(), rows)
trainer.save_checkpoint(path)
'''


def lightning(root):
    import subprocess
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(LIGHTNING)
        script.flush()
        for name, ranks in (("lightning.ckpt", 1), ("lightning-fsdp.ckpt", RANKS)):
            subprocess.run([sys.executable, script.name, name, str(ranks)], cwd=root, check=True,
                           capture_output=True)


if __name__ == "__main__":
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sharded")
    root = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else default
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    single(root)
    mp.spawn(sharded, (root,), nprocs=RANKS)
    lightning(root)
