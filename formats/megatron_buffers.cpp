#include "formats/megatron_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/decode.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/pickle_known.hpp"
#include "formats/torch_storage.hpp"
#include "formats/torch_walk.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kAlignment = 64;  // of a parameter's start, in elements
constexpr std::int64_t kSample = 256;    // elements compared at each of three places
constexpr std::int64_t kMaxEndPadding = std::int64_t{1} << 20;
constexpr std::int64_t kUsualBucket = 40'000'000;
constexpr std::int64_t kUsualBucketPerRank = 1'000'000;
constexpr std::string_view kMasters = "param";

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

bool plain(const TorchTensor& tensor) {
  return tensor.opaque.empty() && tensor.piece.cells.empty() &&
         tensor.piece.order == ByteOrder::little && tensor.piece.flag == ValueFlag::none;
}

std::vector<double> values(const TorchTensor& tensor, std::int64_t first, std::int64_t count) {
  std::vector<std::byte> bytes(byte_size(tensor.dtype, count));
  tensor.piece.source->read(checked_add(tensor.piece.offset, byte_size(tensor.dtype, first)),
                            bytes);
  std::vector<double> out(static_cast<std::size_t>(count));
  to_doubles(tensor.dtype, bytes.data(), count, out.data());
  return out;
}

bool same(double weight, double rounded) {
  return weight == rounded || (std::isnan(weight) && std::isnan(rounded));
}

/// Whether the copies from `start` on, rounded, are the weight; some elements of it are looked at.
bool agrees(const TorchTensor& weight, const TorchTensor& masters, std::int64_t start) {
  const std::int64_t count = element_count(weight.shape);
  const std::int64_t size = std::min(count, kSample);
  for (const std::int64_t first : {std::int64_t{0}, (count - size) / 2, count - size}) {
    const std::vector<double> own = values(weight, first, size);
    std::vector<double> copy = values(masters, checked_add(start, first), size);
    std::vector<std::byte> rounded(byte_size(weight.dtype, size));
    from_doubles(weight.dtype, copy.data(), size, rounded.data());
    to_doubles(weight.dtype, rounded.data(), size, copy.data());
    if (!std::equal(own.begin(), own.end(), copy.begin(), same)) return false;
  }
  return true;
}

/// A set of parameters that one buffer may hold, in reversed order.
using Members = std::vector<const BufferParameter*>;

/// A layout of a buffer with what speaks for it.
struct Fit {
  Members members;
  BufferLayout layout;
  Members disagree;  ///< whose copies are not the weights
};

class Reader {
 public:
  Reader(const TorchFile& file, const std::vector<BufferParameter>& parameters,
         const MegatronArgs& args, State& state)
      : file_(file), parameters_(parameters), args_(args), state_(state) {}

  std::vector<BufferSlice> read() {
    const Value root = file_.root();
    if (const auto list = sequence(root)) {
      for (const Value& optimizer : *list) {
        if (!optimizer.is_none()) read_optimizer(optimizer);
      }
    } else {
      read_optimizer(root);
    }
    return std::move(slices_);
  }

 private:
  void read_optimizer(Value optimizer) {
    const auto pairs = mapping(optimizer);
    if (!pairs) return refuse(optimizer.where(), "is no optimizer's state", 1);
    for (const auto& [key, buffer] : *pairs) {
      if (key.text() == "buckets_coalesced" || !key.integer()) continue;
      for (const auto& [dtypes, tensors] : mapping(buffer).value_or(std::vector<Pair>()))
        read_buffer(dtypes, tensors);
    }
  }

  void refuse(Where where, std::string_view what, std::size_t tensors) {
    state_.unreadable += static_cast<std::int64_t>(tensors);
    state_.findings.push_back(
        damaged(std::move(where), fmt::format("a buffer of the distributed optimizer {}", what)));
  }

  void read_buffer(Value dtypes, Value value) {
    Buffer buffer;
    buffer.where = value.where();
    const auto dtype = torch_dtype(dtypes[0]);
    const auto pairs = mapping(value);
    if (!dtype || !pairs) {
      return refuse(value.where(), "is not in the coalesced form, which alone is understood", 1);
    }
    buffer.dtype = *dtype;
    for (const auto& [key, item] : *pairs) {
      if (!TorchFile::is_tensor(item)) continue;
      try {
        buffer.tensors.emplace_back(path_part(key), file_.tensor(item));
      } catch (const Error& error) {
        ++state_.unreadable;
        state_.findings.push_back(unreadable(error));
      }
    }
    place(buffer);
  }

  void place(const Buffer& buffer) {
    const TorchTensor* masters = masters_of(buffer);
    const bool row = masters != nullptr && plain(*masters) && masters->shape.size() == 1 &&
                     fits_float(masters->dtype);
    if (!row) return refuse(buffer.where, "has no row of parameters", buffer.tensors.size());
    const std::optional<Fit> fit = find_fit(buffer, *masters);
    if (!fit) {
      return refuse(buffer.where,
                    fmt::format("of {} elements cannot be cut into parameters: no order that the "
                                "writer uses agrees with the weights",
                                masters->shape[0]),
                    buffer.tensors.size());
    }
    for (const BufferParameter* parameter : fit->disagree) {
      state_.findings.push_back(
          found(Code::master_mismatch,
                fmt::format("the {} copy of {} in the optimizer, rounded to {}, is not the weight",
                            name(masters->dtype), parameter->name, name(buffer.dtype)),
                buffer.where, parameter->name));
    }
    for (const auto& [key, tensor] : buffer.tensors) cut(key, tensor, *masters, *fit);
  }

  /// The first fit in which all copies are the weights; else the best of those that fill the buffer
  /// and in which most are.
  std::optional<Fit> find_fit(const Buffer& buffer, const TorchTensor& masters) const {
    std::optional<Fit> best;
    for (Members& members : candidates(buffer.dtype)) {
      for (BufferLayout& layout : layouts(members)) {
        const std::int64_t rest = masters.shape[0] - layout.end;
        if (rest < 0 || rest > kMaxEndPadding) continue;
        Fit fit{members, std::move(layout), {}};
        for (std::size_t i = 0; i < members.size(); ++i) {
          if (!agrees_at(*members[i], masters, fit.layout.starts[i])) {
            fit.disagree.push_back(members[i]);
          }
        }
        if (fit.disagree.empty()) return fit;
        const bool most = fit.disagree.size() * 2 < members.size() && rest == 0;
        if (most && (!best || fit.disagree.size() < best->disagree.size())) best = std::move(fit);
      }
    }
    return best;
  }

  static bool agrees_at(const BufferParameter& parameter, const TorchTensor& masters,
                        std::int64_t start) {
    try {
      return agrees(parameter.weight, masters, start);
    } catch (const Error&) {
      return false;  // said where the tensor itself is read
    }
  }

  /// Parameters by model chunk; all of them, without the experts, the experts alone.
  std::vector<Members> candidates(DType dtype) const {
    std::size_t chunks = 0;
    for (const BufferParameter& one : parameters_) chunks = std::max(chunks, one.chunk + 1);
    std::vector<Members> sets;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      std::array<Members, 3> kinds;
      for (auto one = parameters_.rbegin(); one != parameters_.rend(); ++one) {
        if (one->chunk != chunk || one->weight.dtype != dtype || !plain(one->weight)) continue;
        kinds[0].push_back(&*one);
        kinds[one->expert ? 2 : 1].push_back(&*one);
      }
      const bool mixed = !kinds[1].empty() && !kinds[2].empty();
      for (std::size_t kind = 0; kind < (mixed ? 3 : 1); ++kind) {
        if (!kinds[kind].empty()) sets.push_back(std::move(kinds[kind]));
      }
    }
    return sets;
  }

  std::vector<BufferLayout> layouts(const Members& members) const {
    std::vector<std::int64_t> sizes;
    std::vector<bool> tied;
    for (const BufferParameter* one : members) {
      sizes.push_back(element_count(one->weight.shape));
      tied.push_back(one->tied);
    }
    const std::int64_t usual = std::max(kUsualBucket, checked_mul(kUsualBucketPerRank, args_.dp));
    std::vector<BufferLayout> all;
    for (const std::int64_t bucket : {std::int64_t{0}, args_.bucket_size, usual}) {
      for (const std::vector<bool>& alone : {std::vector<bool>(), tied}) {
        BufferLayout layout = buffer_layout(sizes, bucket, alone);
        const auto known = [&](const BufferLayout& one) { return one.starts == layout.starts; };
        if (std::none_of(all.begin(), all.end(), known)) all.push_back(std::move(layout));
      }
    }
    return all;
  }

  void cut(const std::string& key, const TorchTensor& tensor, const TorchTensor& masters,
           const Fit& fit) {
    if (!plain(tensor) || tensor.shape != masters.shape) {
      return refuse(tensor.piece.where(),
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

  const TorchFile& file_;
  const std::vector<BufferParameter>& parameters_;
  const MegatronArgs& args_;
  State& state_;
  std::vector<BufferSlice> slices_;
};

}  // namespace

BufferLayout buffer_layout(const std::vector<std::int64_t>& sizes, std::int64_t bucket_size,
                           const std::vector<bool>& alone) {
  BufferLayout layout;
  std::int64_t bucket = 0, held = 0;  // where the bucket starts, and what it holds so far
  const auto close = [&] {
    bucket = checked_add(bucket, held);
    held = 0;
  };
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool own = !alone.empty() && alone[i];
    if (own) close();
    const std::int64_t start = checked_mul(ceil_div(held, kAlignment), kAlignment);
    layout.starts.push_back(checked_add(bucket, start));
    held = checked_add(start, sizes[i]);
    if (own || (bucket_size > 0 && held >= bucket_size)) close();
  }
  layout.end = checked_add(bucket, held);
  return layout;
}

std::vector<BufferSlice> read_buffers(const TorchFile& file,
                                      const std::vector<BufferParameter>& parameters,
                                      const MegatronArgs& args, State& state) {
  return Reader(file, parameters, args, state).read();
}

}  // namespace ttcheck::formats
