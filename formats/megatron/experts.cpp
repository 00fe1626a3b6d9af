// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kFirst = ".experts.weight1";
constexpr std::string_view kSecond = ".experts.weight2";
constexpr std::int64_t kMaxExperts = 65536;

NamedTensor transposed(const TorchTensor& whole, std::int64_t begin, std::int64_t rows,
                       std::int64_t columns, std::string name) {
  NamedTensor part{std::move(name), whole};
  part.tensor.shape = {columns, rows};
  part.tensor.piece.offset = checked_add(whole.piece.offset, byte_size(whole.dtype, begin));
  part.tensor.piece.cells = {{{{0, 0}, {columns, rows}}, 0, {1, columns}}};
  return part;
}

}  // namespace

std::vector<NamedTensor> single_experts(const std::string& name, const TorchTensor& tensor,
                                        const MegatronArgs& args, std::int64_t first) {
  const std::size_t suffix = std::min(name.find('@'), name.size());
  const std::string_view base = std::string_view(name).substr(0, suffix);
  const bool up = base.ends_with(kFirst);
  if (!up && !base.ends_with(kSecond)) return {{name, tensor}};
  const std::int64_t count = args.experts > 0 ? args.experts / args.ep : 0;
  const bool plain = tensor.piece.cells.empty() && tensor.shape.size() == 2;
  const std::int64_t joined = plain ? tensor.shape[up ? 1 : 0] : 0;
  if (!plain || count < 1 || count > kMaxExperts || joined % count != 0 || joined / count == 0) {
    throw Error(fmt::format("the joined weights cannot be cut into {} experts", count));
  }
  const std::int64_t ffn = joined / count;
  const std::int64_t stated =
      checked_mul<std::int64_t>(args.expert_ffn, up && args.swiglu ? 2 : 1) / args.etp;
  if (stated > 0 && ffn != stated) {
    throw Error(fmt::format("the joined weights of {} experts have {} channels each, expected {}",
                            count, ffn, stated));
  }
  const std::int64_t hidden = tensor.shape[up ? 0 : 1];
  const std::string_view stem = base.substr(0, base.size() - kFirst.size());
  std::vector<NamedTensor> parts;
  for (std::int64_t e = 0; e < count; ++e) {
    parts.push_back(transposed(tensor, checked_mul(e, checked_mul(hidden, ffn)), up ? hidden : ffn,
                               up ? ffn : hidden,
                               fmt::format("{}.experts.local_experts.{}.linear_fc{}.weight{}", stem,
                                           first + e, up ? 1 : 2, name.substr(suffix))));
  }
  return parts;
}

}  // namespace ttcheck::formats
