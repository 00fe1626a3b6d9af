# SPDX-License-Identifier: Apache-2.0
"""One training by somebody else's loop.

    python engine.py FOLDER ENGINE WORLD OPTION       FOLDER `-`: nothing is recorded; rank 0 prints a hash of the last weights

ENGINE: plain (torch alone), deepspeed (OPTION: stage of ZeRO), megatron (tensor parallelism, `gated`), trainer, lightning
(micro-batches). On a processor Megatron-core lacks a generator of random numbers, which is stood in for here.
"""
import contextlib
import hashlib
import os
import random
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "samples", "collector")]
from models import MODELS, batch_of, loss_of  # noqa: E402

STEPS = 2


def recorder(folder, *what):
    if folder == "-":
        return contextlib.nullcontext()
    from ttcheck_trace import Trace
    return Trace(folder, *what)


def plain(folder, rank, world, option):
    model = MODELS["llama"]()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with recorder(folder, model, optimizer):
        for step in range(STEPS):
            inputs, targets = batch_of("llama", step)
            loss_of(model(inputs), targets).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    return model.parameters()


def deepspeed(folder, rank, world, option):
    os.environ["DS_ACCELERATOR"] = "cpu"
    import deepspeed
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # which compiles for minutes
    deepspeed.init_distributed("gloo", verbose=False)
    model = MODELS["llama"]()
    engine, *_ = deepspeed.initialize(
        model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
        config={"train_batch_size": 8, "gradient_accumulation_steps": 2, "zero_optimization": {"stage": int(option)},
                "gradient_clipping": 1.0, "zero_allow_untested_optimizer": True})
    with recorder(folder, engine):
        for step in range(STEPS):
            inputs, targets = (one.chunk(world)[rank].chunk(2) for one in batch_of("llama", step))
            for x, y in zip(inputs, targets):
                engine.backward(loss_of(engine(x), y))
                engine.step()
    return [getattr(one, "ds_tensor", one) for one in model.parameters()]


def megatron(folder, rank, world, option):
    torch.cuda.current_device = lambda: torch.device("cpu")
    from megatron.core import parallel_state
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.tensor_parallel import random as generators
    from megatron.core.transformer.transformer_config import TransformerConfig

    class Generator:
        def fork(self, name=""):
            return contextlib.nullcontext()

        def is_initialized(self):
            return True

    way, gated = option.partition("-")[0], option.endswith("gated")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    parallel_state.initialize_model_parallel(world if way == "tp" else 1, 1)
    generators._CUDA_RNG_STATE_TRACKER, generators._CUDA_RNG_STATE_TRACKER_INITIALIZED = Generator(), True
    torch.manual_seed(1)
    model = GPTModel(config=TransformerConfig(
        num_layers=2, hidden_size=32, num_attention_heads=4, num_query_groups=2, gated_linear_unit=gated,
        normalization="RMSNorm" if gated else "LayerNorm", activation_func=torch.nn.functional.silu if gated else torch.nn.functional.gelu,
        use_cpu_initialization=True, tensor_model_parallel_size=world if way == "tp" else 1, hidden_dropout=0,
        attention_dropout=0, gradient_accumulation_fusion=False, masked_softmax_fusion=False, bias_dropout_fusion=False,
        bias_activation_fusion=False), transformer_layer_spec=get_gpt_layer_local_spec(), vocab_size=64, max_sequence_length=16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    group = parallel_state.get_data_parallel_group()
    ranks, mine = dist.get_world_size(group), dist.get_rank(group)
    with recorder(folder, model, optimizer):
        for step in range(STEPS):
            tokens = torch.randint(0, 64, (8, 17), generator=torch.Generator().manual_seed(step)).chunk(ranks)[mine]
            inputs = tokens[:, :-1].contiguous()
            mask = torch.triu(torch.ones(1, 1, 16, 16, dtype=torch.bool), 1)
            model(inputs, torch.arange(16).expand_as(inputs), mask, labels=tokens[:, 1:].contiguous()).mean().backward()
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad, group=group)
                parameter.grad /= ranks
            optimizer.step()
            optimizer.zero_grad()
    return model.parameters()


def trainer(folder, rank, world, option):
    import transformers
    from ttcheck_trace.callbacks import TrainerTrace
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=64))
    tokens = torch.randint(0, 64, (32, 16), generator=torch.Generator().manual_seed(1))
    arguments = transformers.TrainingArguments(
        folder + "-out", per_device_train_batch_size=8 // int(option), gradient_accumulation_steps=int(option), max_steps=STEPS,
        report_to=[], use_cpu=True, seed=0, save_strategy="no", disable_tqdm=True)
    transformers.Trainer(model, arguments, train_dataset=[{"input_ids": one, "labels": one} for one in tokens],
                         callbacks=[TrainerTrace(folder)] if folder != "-" else []).train()
    return model.parameters()


def lightning(folder, rank, world, option):
    import lightning
    from ttcheck_trace.callbacks import LightningTrace

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 8))

        def training_step(self, batch, index):
            return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    draw, module = torch.Generator().manual_seed(1), Module()
    data = torch.utils.data.TensorDataset(torch.randn(32, 16, generator=draw), torch.randint(0, 8, (32,), generator=draw))
    lightning.Trainer(max_steps=STEPS, accelerator="cpu", accumulate_grad_batches=int(option), logger=False,
                      enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                      callbacks=[LightningTrace(folder)] if folder != "-" else []).fit(
                          module, torch.utils.data.DataLoader(data, batch_size=8 // int(option)))
    return module.parameters()


def train(rank, folder, engine, world, option, port):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    torch.manual_seed(1)
    weights = globals()[engine](folder, rank, world, option)
    if rank == 0:
        print("weights", hashlib.sha256(b"".join(one.detach().numpy().tobytes() for one in weights)).hexdigest(), flush=True)


if __name__ == "__main__":
    where, name, ranks, choice = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    free = random.SystemRandom().randint(20000, 40000)
    if ranks == 1:
        train(0, where, name, 1, choice, free)
    else:
        mp.spawn(train, (where, name, ranks, choice, free), nprocs=ranks)
