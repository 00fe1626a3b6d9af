#pragma once
// The buffers of Megatron's distributed optimizer (`distrib_optim.pt`): fp32 copies of the
// parameters and their moments, laid end to end in an order that no file states. The order is
// computed as the writer does, and taken only when the copies, rounded, are the weights.

#include <string>
#include <vector>

#include "core/model/run.hpp"
#include "formats/megatron_args.hpp"
#include "formats/torch_file.hpp"

namespace ttcheck::formats {

/// A rank's parameter, in the model's order.
struct BufferParameter {
  std::string name;
  TorchTensor weight;
  std::size_t chunk = 0;
  bool expert = false;  ///< of one of the experts
  bool tied = false;    ///< shared with another stage
};

/// A view into a buffer: state of a parameter.
struct BufferSlice {
  std::string name;  ///< `<param>@<key>`
  TorchTensor tensor;
};

/// The slices of all buffers whose layout is proved; findings and counts for the others go to
/// `state`. Reads some elements of each parameter.
std::vector<BufferSlice> read_buffers(const TorchFile& file,
                                      const std::vector<BufferParameter>& parameters,
                                      const MegatronArgs& args, State& state);

/// Where parameters of these sizes (reversed model order) start in a buffer.
struct BufferLayout {
  std::vector<std::int64_t> starts;
  std::int64_t end = 0;
};

/// Starts are multiples of 64 within a bucket. A bucket ends once it holds `bucket_size` elements
/// (0: never); what fills it up is not stored (param_and_grad_buffer.py, distrib_optimizer.py in
/// megatron/core). `alone[i]`: parameter i has a bucket of its own; may be empty.
BufferLayout buffer_layout(const std::vector<std::int64_t>& sizes, std::int64_t bucket_size,
                           const std::vector<bool>& alone);

}  // namespace ttcheck::formats
