// SPDX-License-Identifier: Apache-2.0
#include "core/align/implied.hpp"

#include <optional>
#include <set>

#include "core/align/names.hpp"
#include "core/base/name_map.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

constexpr std::string_view kMaster = "@master";

/// A checkpoint's tensors by name.
class Side {
 public:
  explicit Side(std::span<const Tensor> tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].identity.phase != Phase::none) continue;
      const std::string& name = tensors[i].identity.name;
      where_.emplace(name, i);
      const bool moment = tensors[i].kind == Kind::moment1 || tensors[i].kind == Kind::moment2 ||
                          tensors[i].kind == Kind::momentum;
      if (moment) trained_.insert(std::string_view(name).substr(0, name.rfind('@')));
    }
    for (const auto& [name, i] : where_) {
      const std::string_view parameter = parameter_of_master(name);
      if (parameter.empty()) continue;
      masters_ = true;
      weights_ = weights_ || where_.contains(parameter);
    }
  }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = where_.find(name);
    return found == where_.end() ? std::nullopt : std::optional(found->second);
  }

  bool masters_only() const { return masters_ && !weights_; }
  bool any_trained() const { return !trained_.empty(); }
  bool trained(std::string_view parameter) const { return trained_.contains(parameter); }

 private:
  NameViewMap<std::size_t> where_;
  std::set<std::string_view> trained_;
  bool masters_ = false, weights_ = false;
};

std::optional<ImpliedBy> weight_by(const std::string& name, const Side& there, const Ties& ties) {
  const auto tie = ties.find(name);
  const std::string& stored = tie == ties.end() ? name : tie->second;
  if (tie != ties.end()) {
    if (const auto found = there.find(stored)) return ImpliedBy{*found, kTiedParameter};
  }
  if (!there.masters_only()) return std::nullopt;
  const auto master = there.find(stored + std::string(kMaster));
  if (!master) return std::nullopt;
  return ImpliedBy{*master, tie == ties.end() ? kMasterForParameter : kTiedParameter};
}

std::optional<ImpliedBy> master_by(std::string_view parameter, const Side& here,
                                   const Side& there) {
  if (!here.any_trained() || here.trained(parameter) || there.trained(parameter)) {
    return std::nullopt;
  }
  const auto weight = there.find(parameter);
  if (!weight) return std::nullopt;
  return ImpliedBy{*weight, kMasterForParameter};
}

}  // namespace

Implied implied(std::span<const Tensor> tensors, std::span<const std::size_t> alone,
                std::span<const Tensor> others, const Ties& ties) {
  Implied found;
  if (alone.empty()) return found;
  const Side here(tensors);
  const Side there(others);
  for (const std::size_t i : alone) {
    const Tensor& tensor = tensors[i];
    if (tensor.identity.phase != Phase::none) continue;
    const std::string& name = tensor.identity.name;
    const std::string_view parameter = parameter_of_master(name);
    std::optional<ImpliedBy> by;
    if (tensor.kind == Kind::weight) by = weight_by(name, there, ties);
    if (!parameter.empty()) by = master_by(parameter, here, there);
    if (by) found.emplace(i, *by);
  }
  return found;
}

}  // namespace ttcheck::align
