// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/core/cross_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/bytes/findings.hpp"
#include "formats/megatron/names.hpp"

namespace ttcheck::formats {

void StoredCheck::add(const MegatronKey& key, const Shape& whole, const Where& where,
                      std::vector<Finding>& findings) {
  if (!key.suffix.empty() || key.stacked > whole.size()) return;
  const auto stacked = static_cast<std::ptrdiff_t>(key.stacked);
  shapes_.check_whole(key.name, Shape(whole.begin() + stacked, whole.end()), where, findings);
  if (key.experts && args_.experts > 0 && whole[*key.experts] != args_.experts && !said_experts_) {
    said_experts_ = true;
    findings.push_back(found(Code::shape_or_dtype,
                             fmt::format("{} holds {} experts, the arguments say {}", key.name,
                                         whole[*key.experts], args_.experts),
                             where, key.name));
  }
  if (key.name.starts_with("mtp.")) return;
  if (!key.name.starts_with("decoder.layers.")) {
    other_layers_ = other_layers_ || key.layers || layer_of_name(key.name);
    return;
  }
  const auto number = layer_of_name(key.name);
  if (key.layers) layers_ = std::max(layers_, whole[*key.layers]);
  if (number && *number < INT32_MAX) layers_ = std::max(layers_, *number + 1);
}

void StoredCheck::finish(const Where& where, std::vector<Finding>& findings) const {
  const bool stated = args_.layers > 0 && args_.same_layers && !other_layers_;
  if (!stated || layers_ == 0 || layers_ == args_.layers) return;
  findings.push_back(
      found(Code::layer_mapping,
            fmt::format("the decoder has {} layers, the arguments say {}", layers_, args_.layers),
            where));
}

}  // namespace ttcheck::formats
