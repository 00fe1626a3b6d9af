// SPDX-License-Identifier: Apache-2.0
#pragma once
// The buffers of Megatron's distributed optimizer (`distrib_optim.pt`): fp32 copies of the
// parameters and their moments, laid end to end in an order that no file states. The order is
// computed as the writer does, and taken only when the copies, rounded, are the weights.

#include <string>
#include <vector>

#include "core/model/run.hpp"
#include "formats/megatron/args.hpp"
#include "formats/megatron/buffer_fit.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

/// A view into a buffer: state of a parameter.
struct BufferSlice {
  std::string name;  ///< `<param>@<key>`
  TorchTensor tensor;
};

/// Cuts all buffers whose layout is proved; findings and counts for the others go to
/// `state`. Reads some elements of each parameter.
std::vector<BufferSlice> read_buffers(const TorchFile& file,
                                      const std::vector<BufferParameter>& parameters,
                                      const MegatronArgs& args, State& state);

/// Cuts `file`, which lies in the place of `due`: the buffers of `due` fit the weights,
/// and those of `file` are cut in the same places, as who loads it would. Of other sizes:
/// unreadable.
std::vector<BufferSlice> read_exchanged(const TorchFile& file, const TorchFile& due,
                                        const std::vector<BufferParameter>& parameters,
                                        const MegatronArgs& args, State& state);

}  // namespace ttcheck::formats
