# SPDX-License-Identifier: Apache-2.0
"""Makes samples/huggingface: what the Trainer, accelerate and PEFT write for a small Llama.

    python samples/make_huggingface.py [FOLDER]      (torch, transformers, accelerate, peft)
"""
import os
import shutil
import sys
import tempfile

import accelerate
import peft
import torch
import transformers

VOCAB = 37


def model():
    torch.manual_seed(11)
    config = transformers.LlamaConfig(
        vocab_size=VOCAB, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32)
    return transformers.LlamaForCausalLM(config)


class Rows(torch.utils.data.Dataset):
    """Fixed random token rows."""
    def __len__(self):
        return 8

    def __getitem__(self, row):
        tokens = torch.randint(0, VOCAB, (9,), generator=torch.Generator().manual_seed(row))
        return {"input_ids": tokens, "labels": tokens}


def trainer(folder):
    with tempfile.TemporaryDirectory() as work:
        arguments = transformers.TrainingArguments(
            output_dir=work, max_steps=2, save_steps=2, per_device_train_batch_size=2,
            learning_rate=3e-3, report_to=[], use_cpu=True, seed=11, disable_tqdm=True)
        transformers.Trainer(model=model(), args=arguments, train_dataset=Rows()).train()
        shutil.copytree(os.path.join(work, "checkpoint-2"), os.path.join(folder, "checkpoint-2"))


def accelerated(folder):
    accelerator = accelerate.Accelerator(cpu=True)
    network = model()
    network, optimizer = accelerator.prepare(
        network, torch.optim.AdamW(network.parameters(), lr=2e-3))
    batch = Rows()[0]["input_ids"][None]
    accelerator.backward(network(input_ids=batch, labels=batch).loss)
    optimizer.step()
    accelerator.save_state(folder)


def adapter(folder):
    config = peft.LoraConfig(r=2, lora_alpha=4, target_modules=["q_proj", "v_proj"],
                             init_lora_weights=False, task_type="CAUSAL_LM")
    peft.get_peft_model(model(), config).save_pretrained(folder)
    os.remove(os.path.join(folder, "README.md"))


if __name__ == "__main__":
    here = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(__file__)
    root = os.path.join(here, "huggingface")
    shutil.rmtree(root, ignore_errors=True)
    trainer(os.path.join(root, "trainer"))
    accelerated(os.path.join(root, "accelerate"))
    adapter(os.path.join(root, "peft"))
