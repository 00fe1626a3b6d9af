// SPDX-License-Identifier: Apache-2.0
#include "core/align/undecoded.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/align/names.hpp"
#include "core/base/name_map.hpp"

namespace ttcheck::align {
namespace {

/// How writers name what they pack: the end of a name, what else must lie beside it, and what the
/// other side calls the weight.
struct Scheme {
  std::string_view ends, beside, weight;
};

constexpr auto kSchemes = std::to_array<Scheme>({{".weight", ".weight.absmax", ".weight"},
                                                 {".qweight", ".scales", ".weight"},
                                                 {".weight_packed", ".weight_scale", ".weight"},
                                                 {"_blocks", "_scales", ""}});

/// What a packed weight and its companions end in.
constexpr auto kParts = std::to_array<std::string_view>(
    {".weight", ".qweight", ".qzeros", ".scales", ".g_idx", ".weight_packed", ".weight_scale",
     ".weight_shape", ".weight_zero_point", ".weight_g_idx", "_blocks", "_scales"});

bool may_be_packed(const Tensor& tensor) {
  const DType dtype = tensor.dtype;
  const bool codes = dtype == DType::u8 || dtype == DType::i8 || dtype == DType::i32;
  return codes && tensor.identity.phase == Phase::none;
}

/// The packed weights of one side: what is before the scheme's end, and the scheme.
NameMap<const Scheme*> packed(std::span<const Tensor> tensors) {
  if (std::ranges::none_of(tensors, may_be_packed)) return {};
  NameSet names;
  for (const Tensor& tensor : tensors) names.insert(bare(tensor.identity.name));
  NameMap<const Scheme*> found;
  for (const Tensor& tensor : tensors) {
    if (!may_be_packed(tensor)) continue;
    const std::string name = bare(tensor.identity.name);
    for (const Scheme& scheme : kSchemes) {
      if (!name.ends_with(scheme.ends)) continue;
      std::string base = name.substr(0, name.size() - scheme.ends.size());
      if (names.contains(base + std::string(scheme.beside)))
        found.emplace(std::move(base), &scheme);
    }
  }
  return found;
}

/// The packed weight that a tensor of its side is of, or lies beside.
std::optional<std::string> packed_of(const Tensor& tensor, const NameMap<const Scheme*>& packed) {
  std::string name = bare(tensor.identity.name);
  const std::size_t state = name.find(".weight.");  // bitsandbytes' own, behind the weight's name
  if (state != std::string::npos) name.resize(state + std::string_view(".weight").size());
  for (const std::string_view part : kParts) {
    if (!name.ends_with(part)) continue;
    const std::string base = name.substr(0, name.size() - part.size());
    if (packed.contains(base)) return base;
  }
  return std::nullopt;
}

/// The packed weight of the other side that a tensor is the plain form of.
std::optional<std::string> plain_of(const Tensor& tensor, const NameMap<const Scheme*>& packed) {
  const std::string name = bare(tensor.identity.name);
  for (const std::string_view end : {std::string_view(".weight"), std::string_view()}) {
    if (!name.ends_with(end)) continue;
    const auto at = packed.find(name.substr(0, name.size() - end.size()));
    if (at != packed.end() && at->second->weight == end) return at->first;
  }
  return std::nullopt;
}

/// Leaves out what is packed on one side alone.
class Exclusion {
 public:
  Exclusion(std::span<const Tensor> here, std::span<const Tensor> there)
      : here_(here), there_(there), packed_(packed(here)) {
    const NameMap<const Scheme*> also = packed(there);
    std::erase_if(packed_, [&](const auto& one) { return also.contains(one.first); });
  }

  bool any() const { return !packed_.empty(); }

  Undecoded exclude(Alignment& alignment, std::size_t PairIndex::* own,
                    std::size_t PairIndex::* other, std::vector<std::size_t>& alone,
                    std::vector<std::size_t>& alone_there) {
    Undecoded found;
    std::int64_t count = 0;
    const auto add = [&](std::string name) {
      if (found.weights++ == 0) found.first = std::move(name);
    };
    std::erase_if(alignment.pairs, [&](const PairIndex& pair) {
      const auto base = packed_of(here_[pair.*own], packed_);
      if (!base) return false;
      count += 2;
      if (plain_of(there_[pair.*other], packed_)) add(there_[pair.*other].identity.name);
      return true;
    });
    std::size_t unmet = std::erase_if(alone_there, [&](std::size_t i) {
      const bool plain = plain_of(there_[i], packed_).has_value();
      if (plain) add(there_[i].identity.name);
      return plain;
    });
    if (found.weights == 0) return found;
    unmet += std::erase_if(alone, [&](std::size_t i) { return packed_of(here_[i], packed_); });
    alignment.excluded_by.emplace_back(kUndecodedRule, count + static_cast<std::int64_t>(unmet));
    return found;
  }

 private:
  std::span<const Tensor> here_, there_;
  NameMap<const Scheme*> packed_;
};

}  // namespace

Undecoded exclude_undecoded(std::span<const Tensor> reference, std::span<const Tensor> candidate,
                            Alignment& alignment) {
  Exclusion left(reference, candidate), right(candidate, reference);
  Undecoded found;
  if (right.any()) {
    found = right.exclude(alignment, &PairIndex::candidate, &PairIndex::reference,
                          alignment.only_candidate, alignment.only_reference);
    found.candidate = true;
  }
  if (left.any() && found.weights == 0) {
    found = left.exclude(alignment, &PairIndex::reference, &PairIndex::candidate,
                         alignment.only_reference, alignment.only_candidate);
  }
  return found;
}

}  // namespace ttcheck::align
