# SPDX-License-Identifier: Apache-2.0
"""Records PyTorch training steps as traces that `ttcheck diff` compares.

    from ttcheck_trace import Trace

    with Trace("run_a", model, optimizer):
        train()
"""
from .files import write_hdf5, write_safetensors
from .trace import Trace

__all__ = ["Trace", "write_hdf5", "write_safetensors"]
__version__ = "0.1.0"
