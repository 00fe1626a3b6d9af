// SPDX-License-Identifier: Apache-2.0
#pragma once
// What readers offer for one place, in one order: the highest opens it, and tells what lies beside.

#include <cstdint>

namespace ttcheck::formats {

/// The weakest first. Each but `none` is one reader's, so no two bids are equal. What is read by
/// itself where it is named stands below what can be read only from above it.
enum class Bid : std::uint8_t {
  none,  ///< not this reader's

  // Files, by their first bytes. No directory meets one of these.
  pickle,            ///< two bytes, which other bytes may begin with
  torn_safetensors,  ///< a length that fits a header, and the brace behind it; the file is shorter
  npy,               ///< six bytes
  debug_mode_log,    ///< lines of operations
  hdf5,              ///< eight bytes
  npz,               ///< a zip and the name of an array in it
  safetensors,       ///< a header within the file
  torch_zip,         ///< a zip and the pickle that torch names; arrays may lie in it, too
  call_tree,         ///< the first key that transformers' debugger writes
  torch_legacy,      ///< fourteen bytes

  // Directories of what other readers know by itself.
  parent,  ///< one run, somewhere below
  folder,  ///< files and directories, each by itself
  series,  ///< of the same kind, and their names are steps

  // Checkpoints. Who knows more of a folder that several write into is above: adapters and training
  // state lie beside the weights of a model, parts of a distributed checkpoint beside neither.
  hf_weights,           ///< weights, and an index or a config
  meta,                 ///< consolidated.NN.pth
  accelerate,           ///< its state files beside weights
  adapter,              ///< a PEFT config beside weights
  dcp_torn,             ///< .distcp files without their table: a Trainer may have written the rest
  hf_trainer,           ///< its state beside weights
  steps_beside_model,   ///< the weights of a model, and steps that led there
  diffusers,            ///< an index of the folders beside it: above weights and steps there
  dcp_hf,               ///< shards of one rank each
  dcp,                  ///< a table of chunks: what it describes may lie beside shards
  trace_ranks,          ///< ranks of steps, and nothing that says what they are
  deepspeed,            ///< its model states
  deepspeed_universal,  ///< its folder `zero`
  megatron_core,        ///< its metadata, or a step that was not finished
  layout_unread,        ///< a layout file with an error in it, to be told
  fsdp_distributed,     ///< rank files of distributed tensors
  fsdp_named,           ///< the same by verl's names

  // Dumps, by folders and names that no other program writes. Those whose own folder can be named
  // are below those whose files lie in the run's.
  te_dump,
  debug_mode_logs,
  call_trees,
  sglang_dump,
  sglang_pass,
  msprobe,
  megatron_dump,

  // What says of itself what it is.
  megatron_legacy,  ///< a rank folder and the one file name in it
  trace,            ///< `ttcheck_trace`
  layout,           ///< a layout file whose pattern meets files: the user's own word
  layout_given,     ///< one named on the command line whose pattern meets files
};

}  // namespace ttcheck::formats
