// SPDX-License-Identifier: Apache-2.0
// The file is a dict for one optimizer, or a list of them, where None stands for one without
// buffers. A dict maps the number of a buffer to pairs of dtypes, of parameters and of gradients,
// and these to `param`, `exp_avg` and `exp_avg_sq`, a row each. Only this coalesced form is read;
// a buffer that is no dict or has no dtype that is known is unreadable, and so is a row that is
// neither a tensor nor a single number, as a list of buckets.
// The buffers are read first, then each is placed by its `param` row
// (formats/megatron/buffer_fit), which must be plain and of one dimension. A row of another shape
// than `param` is unreadable and costs itself alone; a buffer that fits in no order costs all its
// rows. The slices are views of a row, each at its parameter's start and of the weight's shape.
// The search over orders is bounded by 2^22 parameters tried for all buffers of a file; one buffer
// may stand under many keys, so that reading them is charged to a budget that grows with the
// pickle.

#include "formats/megatron/optimizer_buffers.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/decode.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/budget.hpp"
#include "formats/torch/storages.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxWork = std::size_t{1} << 22;  // parameters tried in all buffers of a file
constexpr std::string_view kMasters = "param";
constexpr std::string_view kNotCoalesced =
    "is not in the coalesced form, which alone is understood";

struct Buffer {
  Where where;
  DType dtype = DType::f32;  ///< of the parameters
  std::vector<std::pair<std::string, TorchTensor>> tensors;
};

const TorchTensor* masters_of(const Buffer& buffer) {
  for (const auto& [key, tensor] : buffer.tensors) {
    if (key == kMasters) return &tensor;
  }
  return nullptr;
}

void refuse(State& state, Where where, std::string_view what, std::size_t tensors) {
  state.unreadable += static_cast<std::int64_t>(tensors);
  state.findings.push_back(
      damaged(std::move(where), fmt::format("a buffer of the distributed optimizer {}", what)));
}

/// The buffers of a file, in its order; what is none goes to `state`.
class Buffers {
 public:
  Buffers(const TorchFile& file, State& state)
      : file_(file), state_(state), budget_(file.pickle()) {
    const Value root = file_.root();
    if (const auto list = sequence(root)) {
      for (const Value& optimizer : *list) {
        if (!optimizer.is_none()) read_optimizer(optimizer);
      }
    } else {
      read_optimizer(root);
    }
  }

  const std::vector<Buffer>& all() const { return buffers_; }

 private:
  void read_optimizer(Value optimizer) {
    const auto pairs = mapping(optimizer);
    if (!pairs) return refuse(state_, optimizer.where(), "is no optimizer's state", 1);
    for (const auto& [key, buffer] : *pairs) {
      if (key.text() == "buckets_coalesced" || !key.integer()) continue;
      const auto of_dtypes = mapping(buffer);
      if (!of_dtypes) {
        refuse(state_, buffer.where(), kNotCoalesced, 1);
        continue;
      }
      for (const auto& [dtypes, tensors] : *of_dtypes) read_buffer(dtypes, tensors);
    }
  }

  void read_buffer(Value dtypes, Value value) {
    if (budget_.spent()) return;
    if (!budget_.look_at(value)) {
      ++state_.unreadable;
      state_.findings.push_back(
          beyond(value.where(),
                 "limit reached: buffers of the optimizer are shared so often that not all of "
                 "them were read"));
      return;
    }
    Buffer buffer;
    buffer.where = value.where();
    const auto dtype = torch_dtype(dtypes[0]);
    const auto pairs = mapping(value);
    if (!dtype || !pairs) return refuse(state_, value.where(), kNotCoalesced, 1);
    buffer.dtype = *dtype;
    for (const auto& [key, item] : *pairs) {
      if (!TorchFile::is_tensor(item)) {  // beside the rows stands how long they are
        if (!scalar(item)) refuse(state_, item.where(), kNotCoalesced, 1);
        continue;
      }
      try {
        buffer.tensors.emplace_back(path_part(key), file_.tensor(item));
      } catch (const Error& error) {
        ++state_.unreadable;
        state_.findings.push_back(unreadable(error));
      }
    }
    buffers_.push_back(std::move(buffer));
  }

  const TorchFile& file_;
  State& state_;
  WalkBudget budget_;
  std::vector<Buffer> buffers_;
};

/// Cuts buffers into the parameters' slices.
class Cutting {
 public:
  Cutting(const std::vector<BufferParameter>& parameters, const MegatronArgs& args, State& state)
      : parameters_(parameters), args_(args), state_(state) {}

  /// Fits the buffer to the weights, then cuts the values of `own` in the same places.
  void place(const Buffer& buffer, const Buffer& own) {
    const TorchTensor* masters = masters_of(buffer);
    const bool row = masters != nullptr && is_plain(*masters) && masters->shape.size() == 1 &&
                     fits_float(masters->dtype);
    if (!row)
      return refuse(state_, buffer.where, "has no row of parameters", buffer.tensors.size());
    work_ = checked_add(work_, parameters_.size());
    if (work_ > kMaxWork)
      return refuse(state_, buffer.where, "is one of too many", buffer.tensors.size());
    const std::optional<BufferFit> fit =
        fit_buffer(row_of(*masters), buffer.dtype, parameters_, args_, {});
    if (!fit) {
      return refuse(state_, buffer.where,
                    fmt::format("of {} elements cannot be cut into parameters: no order that the "
                                "writer uses agrees with the weights",
                                masters->shape[0]),
                    buffer.tensors.size());
    }
    for (Finding& finding : findings_of(*fit, masters->dtype, buffer.where)) {
      state_.findings.push_back(std::move(finding));
    }
    for (const auto& [key, tensor] : own.tensors) cut(key, tensor, *masters, *fit);
  }

  std::vector<BufferSlice> take() { return std::move(slices_); }

 private:
  void cut(const std::string& key, const TorchTensor& tensor, const TorchTensor& masters,
           const BufferFit& fit) {
    if (!is_plain(tensor) || tensor.shape != masters.shape) {
      return refuse(state_, tensor.piece.where(),
                    fmt::format("holds {} in another shape than the parameters", key), 1);
    }
    for (std::size_t i = 0; i < fit.members.size(); ++i) {
      BufferSlice& slice = slices_.emplace_back();
      slice.name = fmt::format("{}@{}", fit.members[i]->name, key == kMasters ? "master" : key);
      slice.tensor = tensor;
      slice.tensor.shape = fit.members[i]->weight.shape;
      slice.tensor.piece.offset =
          checked_add(tensor.piece.offset, byte_size(tensor.dtype, fit.layout.starts[i]));
    }
  }

  const std::vector<BufferParameter>& parameters_;
  const MegatronArgs& args_;
  State& state_;
  std::size_t work_ = 0;
  std::vector<BufferSlice> slices_;
};

}  // namespace

std::vector<BufferSlice> read_buffers(const TorchFile& file,
                                      const std::vector<BufferParameter>& parameters,
                                      const MegatronArgs& args, State& state) {
  const Buffers buffers(file, state);
  Cutting cutting(parameters, args, state);
  for (const Buffer& buffer : buffers.all()) cutting.place(buffer, buffer);
  return cutting.take();
}

std::vector<BufferSlice> read_exchanged(const TorchFile& file, const TorchFile& due,
                                        const std::vector<BufferParameter>& parameters,
                                        const MegatronArgs& args, State& state) {
  State due_state;  // what the other file holds is said where it is read as a rank's own
  const Buffers own(file, state);
  const Buffers fitting(due, due_state);
  Cutting cutting(parameters, args, state);
  for (std::size_t i = 0; i < own.all().size(); ++i) {
    const Buffer& buffer = own.all()[i];
    if (i < fitting.all().size()) {
      cutting.place(fitting.all()[i], buffer);
    } else {
      refuse(state, buffer.where, "belongs to no weights of this rank", buffer.tensors.size());
    }
  }
  return cutting.take();
}

}  // namespace ttcheck::formats
