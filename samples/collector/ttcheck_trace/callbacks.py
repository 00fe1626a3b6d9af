# SPDX-License-Identifier: Apache-2.0
"""The same for scripts that do not write the loop themselves.

    trainer = transformers.Trainer(..., callbacks=[TrainerTrace("run_a", steps=range(1, 4))])
    trainer = lightning.Trainer(..., callbacks=[LightningTrace("run_a", every=100)])
"""
from .trace import Trace

try:
    from transformers import TrainerCallback
except ImportError:
    TrainerCallback = object

try:
    from lightning.pytorch import Callback
except ImportError:
    Callback = object


class TrainerTrace(TrainerCallback):
    """Of transformers.Trainer. Takes what Trace takes but for the model and the optimizer."""

    def __init__(self, folder, **options):
        self.folder, self.options, self.trace = folder, options, None

    def on_step_begin(self, args, state, control, model=None, optimizer=None, **more):
        if self.trace is None:  # by now both are wrapped as they will be called
            optimizer = getattr(optimizer, "optimizer", optimizer)  # accelerate's
            self.trace = Trace(self.folder, model, optimizer, **self.options).__enter__()

    def on_train_end(self, args, state, control, **more):
        if self.trace is not None:
            self.trace.close()


class LightningTrace(Callback):
    """Of lightning.pytorch.Trainer. Takes what Trace takes but for the model and the optimizer."""

    def __init__(self, folder, **options):
        self.folder, self.options, self.trace = folder, options, None

    def on_train_start(self, trainer, module):
        optimizers = [getattr(one, "optimizer", one) for one in trainer.optimizers]
        self.trace = Trace(self.folder, trainer.strategy.model, optimizers, **self.options).__enter__()

    def on_train_end(self, trainer, module):
        if self.trace is not None:
            self.trace.close()
