// SPDX-License-Identifier: Apache-2.0
#include "core/align/recast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/align/features.hpp"
#include "core/align/together.hpp"
#include "core/base/error.hpp"
#include "core/base/name_map.hpp"

namespace ttcheck::align {
namespace {

/// Parts that the tensors of a side are read as at most: stacks have as many as their shapes claim.
constexpr std::size_t kMaxParts = std::size_t{1} << 20;

bool is_record(const Tensor& tensor) { return tensor.identity.phase != Phase::none; }

/// A part that a candidate's tensor offers under one of its readings.
struct Offer {
  std::size_t tensor = 0;  ///< of the candidate
  std::size_t reading = 0;
  std::size_t part = 0;
};

/// Sizes of a broken config must not end a comparison that does without the map.
template <class Make>
auto attempt(const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (const Error&) {
    return {};
  }
}

class Recasting {
 public:
  Recasting(const Alone& reference, const Alone& candidate, const Numbers& numbers)
      : reference_(reference), candidate_(candidate), numbers_(numbers) {}

  Recasts run() {
    offer_all();
    if (offers_.empty()) return {};
    std::size_t parts = 0;
    for (const std::size_t i : reference_.indices) {
      for (const Reading& reading : readings_of(reference_, i, parts)) {
        if (meet(i, reading)) break;
      }
    }
    for (const auto& [tensor, taken] : taken_) {
      made_.used.push_back(tensor);
      add_rest(tensor, taken);
    }
    return std::move(made_);
  }

 private:
  /// The reading under which a tensor was used, and which of its parts were.
  struct Taken {
    std::size_t reading = 0, left = 0;
    std::vector<bool> parts;
  };

  /// A reading as boxes; no map where it does not fit.
  struct Fitted {
    std::optional<BoxMap> map;
    Common common;  ///< of the parts' names
  };

  /// A part as a tensor: the candidate's own, or one seen within it.
  struct Seen {
    const Tensor* tensor = nullptr;
    std::unique_ptr<Tensor> own;
    bool sliced = false;
  };

  /// `parts` counts those of the side.
  static std::vector<Reading> readings_of(const Alone& side, std::size_t index,
                                          std::size_t& parts) {
    const Tensor& tensor = side.tensors[index];
    if (parts > kMaxParts) return {};
    std::vector<Reading> readings = side.readings(tensor);
    for (const Reading& reading : readings) parts += reading.parts.size();
    return readings;
  }

  void offer_all() {
    std::size_t parts = 0;
    for (const std::size_t j : candidate_.indices) {
      if (!candidate_.tensors[j].stored) continue;  // what is seen within it is read
      std::vector<Reading> readings = readings_of(candidate_, j, parts);
      if (readings.empty()) continue;
      for (std::size_t r = 0; r < readings.size(); ++r) {
        for (std::size_t k = 0; k < readings[r].parts.size(); ++k) {
          offers_[readings[r].parts[k]].push_back({j, r, k});
        }
      }
      readings_.emplace(j, std::move(readings));
    }
  }

  const Reading& reading_of(const Offer& offer) const {
    return readings_.at(offer.tensor)[offer.reading];
  }

  /// What offers the part and is not taken, or taken under that reading alone; empty when several
  /// tensors do.
  std::vector<const Offer*> find(const std::string& part) const {
    const auto found = offers_.find(part);
    if (found == offers_.end()) return {};
    std::vector<const Offer*> open;
    for (const Offer& offer : found->second) {
      const auto taken = taken_.find(offer.tensor);
      if (taken != taken_.end() &&
          (taken->second.reading != offer.reading || taken->second.parts[offer.part])) {
        continue;
      }
      if (!open.empty() && open.front()->tensor != offer.tensor) return {};
      open.push_back(&offer);
    }
    return open;
  }

  const Fitted& fit(std::size_t tensor, std::size_t reading) {
    const auto [slot, fresh] = fitted_.try_emplace({tensor, reading});
    if (!fresh) return slot->second;
    const Reading& read = readings_.at(tensor)[reading];
    note_unknown(read.op);
    auto map = attempt([&] {
      const auto make = read.features ? features_of_whole : map_of_whole;
      return make(read.op, numbers_, candidate_.tensors[tensor].shape, read.parts.size(),
                  reference_shapes(read));
    });
    if (map && map->parts.size() == read.parts.size()) {
      slot->second = {std::move(map), common_of(read.parts)};
    }
    return slot->second;
  }

  Seen see(const Offer& offer) {
    const Tensor& tensor = candidate_.tensors[offer.tensor];
    const Reading& reading = reading_of(offer);
    if (reading.op.kind == OpKind::same) return {&tensor, nullptr};
    const Fitted& fitted = fit(offer.tensor, offer.reading);
    if (!fitted.map) return {};
    auto part =
        attempt([&] { return std::make_unique<Tensor>(part_of(*fitted.map, tensor, offer.part)); });
    if (part == nullptr) return {};
    if (reading.parts.size() > 1) {
      part->identity.name +=
          fmt::format("[{}]", fitted.common.differing(reading.parts[offer.part]));
    }
    const Tensor* seen = part.get();
    return {seen, std::move(part), !fitted.map->outside.empty()};
  }

  void note_unknown(const MapOp& op) {
    for (const std::string& name : unknown_numbers(op, numbers_)) made_.unknown.insert(name);
  }

  /// The shapes of the parts, where the reference has each as a tensor of its own; else empty.
  std::vector<Shape> reference_shapes(const Reading& reading) {
    if (!by_part_) {
      by_part_.emplace();
      for (const std::size_t i : reference_.indices) {
        for (const Reading& one : reference_.readings(reference_.tensors[i])) {
          if (one.op.kind == OpKind::same) by_part_->emplace(one.parts.at(0), i);
        }
      }
    }
    std::vector<Shape> shapes;
    for (const std::string& part : reading.parts) {
      const auto found = by_part_->find(part);
      if (found == by_part_->end()) return {};
      shapes.push_back(reference_.tensors[found->second].shape);
    }
    return shapes;
  }

  bool meet(std::size_t index, const Reading& reading) {
    std::vector<std::vector<const Offer*>> open;
    std::size_t most = 1;
    for (const std::string& part : reading.parts) {
      open.push_back(find(part));
      if (open.back().empty()) return false;
      most = std::max(most, open.back().size());
    }
    const auto meet_nth = [&](std::size_t n, bool any_shape) {
      std::vector<const Offer*> offers;
      for (const auto& one : open) offers.push_back(one[std::min(n, one.size() - 1)]);
      return meet(index, reading, offers, any_shape);
    };
    for (std::size_t n = 0; n < most; ++n) {
      if (meet_nth(n, false)) return true;
    }
    return reading.op.kind == OpKind::same && !is_record(reference_.tensors[index]) &&
           meet_nth(0, true);
  }

  bool meet(std::size_t index, const Reading& reading, std::span<const Offer* const> offers,
            bool any_shape) {
    const Shape& wanted = reference_.tensors[index].shape;
    std::vector<Seen> seen;
    std::vector<const Tensor*> parts;
    std::vector<Shape> shapes;
    bool sliced = false;
    std::map<std::size_t, std::size_t> reading_by_tensor;
    for (const Offer* offer : offers) {
      const auto slot = reading_by_tensor.try_emplace(offer->tensor, offer->reading).first;
      if (slot->second != offer->reading) return false;
      Seen& one = seen.emplace_back(see(*offer));
      if (one.tensor == nullptr || one.tensor->dtype != seen.front().tensor->dtype) return false;
      parts.push_back(one.tensor);
      shapes.push_back(one.tensor->shape);
      sliced = sliced || one.sliced;
    }
    Tensor whole = *parts.front();
    if (reading.op.kind == OpKind::same) {
      if (!any_shape && whole.shape != wanted) return false;
    } else {
      const bool addends = std::ranges::any_of(
          parts, [](const Tensor* part) { return part->reduce != Reduce::none; });
      note_unknown(reading.op);
      const auto make = reading.features ? features_of_parts : map_of_parts;
      const auto map = attempt([&] { return make(reading.op, numbers_, wanted, shapes); });
      if (!map || addends) return false;
      auto made = attempt([&] { return std::make_unique<Tensor>(whole_of(*map, parts)); });
      if (made == nullptr) return false;
      whole = std::move(*made);
      sliced = sliced || !map->outside.empty();
      std::vector<std::string> names;
      for (const Tensor* part : parts) names.push_back(part->identity.name);
      whole.identity.name = together(names);
    }
    for (const Offer* offer : offers) take(*offer);
    if (sliced) ++made_.sliced;
    made_.pairs.push_back({index, std::move(whole), reading.scheme, reading_of(*offers[0]).scheme});
    return true;
  }

  void take(const Offer& offer) {
    const auto [slot, fresh] = taken_.try_emplace(offer.tensor);
    Taken& taken = slot->second;
    if (fresh) {
      taken.reading = offer.reading;
      taken.left = reading_of(offer).parts.size();
      taken.parts.resize(taken.left);
    }
    taken.parts[offer.part] = true;
    if (--taken.left > 0) return;
    for (std::size_t r = 0; r < readings_.at(offer.tensor).size(); ++r) {
      fitted_.erase({offer.tensor, r});
    }
  }

  void add_rest(std::size_t tensor, const Taken& taken) {
    for (std::size_t k = 0; k < taken.parts.size(); ++k) {
      if (taken.parts[k]) continue;
      const Seen part = see({tensor, taken.reading, k});
      made_.rest.push_back(part.tensor != nullptr ? *part.tensor : candidate_.tensors[tensor]);
    }
  }

  const Alone& reference_;
  const Alone& candidate_;
  const Numbers& numbers_;
  std::unordered_map<std::size_t, std::vector<Reading>> readings_;  ///< of the candidate's
  NameMap<std::vector<Offer>> offers_;
  std::optional<NameMap<std::size_t>> by_part_;  ///< of the reference, those that are one part
  std::map<std::pair<std::size_t, std::size_t>, Fitted> fitted_;  ///< until all parts are taken
  std::map<std::size_t, Taken> taken_;
  Recasts made_;
};

}  // namespace

Recasts recast(const Alone& reference, const Alone& candidate, const Numbers& numbers) {
  return Recasting(reference, candidate, numbers).run();
}

}  // namespace ttcheck::align
