#include "core/align/recast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/base/error.hpp"

namespace ttcheck::align {
namespace {

bool can_be_recast(const Tensor& tensor) {
  return tensor.identity.phase == Phase::none && tensor.stored;
}

/// A part that a candidate's tensor offers under one of its readings.
struct Offer {
  std::size_t tensor = 0;  ///< of the candidate
  std::size_t reading = 0;
  std::size_t part = 0;
};

/// `q` of `layers.3.q.weight`.
std::string_view role(std::string_view part) {
  const std::size_t end = part.rfind('.');
  if (end == std::string_view::npos) return part;
  const std::size_t begin = part.rfind('.', end == 0 ? 0 : end - 1);
  part = part.substr(0, end);
  return begin >= end ? part : part.substr(begin + 1);
}

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
  Recasting(const Alone& reference, const Alone& candidate, const Readings& readings,
            const Numbers& numbers)
      : reference_(reference), candidate_(candidate), read_(readings), numbers_(numbers) {}

  Recasts run() {
    offer_all();
    if (offers_.empty()) return {};
    for (const std::size_t i : reference_.indices) {
      const Tensor& wanted = reference_.tensors[i];
      if (!can_be_recast(wanted)) continue;
      for (const Reading& reading : read_(wanted.identity.name)) {
        if (meet(i, wanted, reading)) break;
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
    std::size_t reading = 0;
    std::vector<bool> parts;
  };

  /// A part as a tensor: the candidate's own, or one seen within it.
  struct Seen {
    const Tensor* tensor = nullptr;
    std::unique_ptr<Tensor> own;
  };

  void offer_all() {
    for (const std::size_t j : candidate_.indices) {
      const Tensor& tensor = candidate_.tensors[j];
      if (!can_be_recast(tensor)) continue;
      std::vector<Reading> readings = read_(tensor.identity.name);
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

  /// The only tensor that offers the part and is not taken under another reading.
  const Offer* find(const std::string& part) const {
    const auto found = offers_.find(part);
    if (found == offers_.end()) return nullptr;
    const Offer* only = nullptr;
    for (const Offer& offer : found->second) {
      const auto taken = taken_.find(offer.tensor);
      if (taken != taken_.end() &&
          (taken->second.reading != offer.reading || taken->second.parts[offer.part])) {
        continue;
      }
      if (only != nullptr) return nullptr;
      only = &offer;
    }
    return only;
  }

  Seen see(const Offer& offer) {
    const Tensor& tensor = candidate_.tensors[offer.tensor];
    const Reading& reading = reading_of(offer);
    if (reading.op.kind == OpKind::same) return {&tensor, nullptr};
    note_unknown(reading.op);
    const auto map = attempt([&] {
      return map_of_whole(reading.op, numbers_, tensor.shape, reading.parts.size(),
                          lengths_of(reading));
    });
    if (!map || map->parts.size() != reading.parts.size()) return {};
    auto part =
        attempt([&] { return std::make_unique<Tensor>(part_of(*map, tensor, offer.part)); });
    if (part == nullptr) return {};
    if (reading.parts.size() > 1) {
      part->identity.name += fmt::format("[{}]", role(reading.parts[offer.part]));
    }
    const Tensor* seen = part.get();
    return {seen, std::move(part)};
  }

  void note_unknown(const MapOp& op) {
    for (const std::string& name : unknown_numbers(op, numbers_)) made_.unknown.insert(name);
  }

  /// Of the parts along the axis of a concat, as the reference has them; empty when it does not.
  std::vector<std::int64_t> lengths_of(const Reading& reading) const {
    if (reading.op.kind != OpKind::concat) return {};
    std::vector<std::int64_t> lengths;
    const auto axis = attempt_axis(reading.op);
    for (const std::string& part : reading.parts) {
      const auto same = std::ranges::find_if(reference_.indices, [&](std::size_t i) {
        return reference_.tensors[i].identity.name == part;
      });
      if (same == reference_.indices.end()) return {};
      const Shape& shape = reference_.tensors[*same].shape;
      if (!axis || *axis >= shape.size()) return {};
      lengths.push_back(shape[*axis]);
    }
    return lengths;
  }

  static std::optional<std::size_t> attempt_axis(const MapOp& op) {
    if (op.arguments.empty() || op.arguments[0].size() != 1) return std::nullopt;
    const char digit = op.arguments[0][0];
    if (digit < '0' || digit > '9') return std::nullopt;
    return static_cast<std::size_t>(digit - '0');
  }

  bool meet(std::size_t index, const Tensor& wanted, const Reading& reading) {
    std::vector<const Offer*> offers;
    for (const std::string& part : reading.parts) {
      offers.push_back(find(part));
      if (offers.back() == nullptr) return false;
    }
    std::vector<Seen> seen;
    std::vector<const Tensor*> parts;
    std::vector<Shape> shapes;
    for (const Offer* offer : offers) {
      Seen& one = seen.emplace_back(see(*offer));
      if (one.tensor == nullptr || one.tensor->dtype != seen.front().tensor->dtype) return false;
      parts.push_back(one.tensor);
      shapes.push_back(one.tensor->shape);
    }
    Tensor whole = *parts.front();
    if (reading.op.kind != OpKind::same) {
      const bool addends = std::ranges::any_of(
          parts, [](const Tensor* part) { return part->reduce != Reduce::none; });
      note_unknown(reading.op);
      const auto map = attempt([&] { return map_of_parts(reading.op, numbers_, shapes); });
      if (!map || addends || map->whole != wanted.shape) return false;
      auto made = attempt([&] { return std::make_unique<Tensor>(whole_of(*map, parts)); });
      if (made == nullptr) return false;
      whole = std::move(*made);
      std::vector<std::string> names;
      for (const Tensor* part : parts) names.push_back(part->identity.name);
      whole.identity.name = together(names);
    }
    for (const Offer* offer : offers) take(*offer);
    made_.pairs.push_back({index, std::move(whole), reading.scheme, reading_of(*offers[0]).scheme});
    return true;
  }

  void take(const Offer& offer) {
    const auto [taken, fresh] = taken_.try_emplace(offer.tensor);
    if (fresh) {
      taken->second.reading = offer.reading;
      taken->second.parts.resize(reading_of(offer).parts.size());
    }
    taken->second.parts[offer.part] = true;
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
  const Readings& read_;
  const Numbers& numbers_;
  std::unordered_map<std::size_t, std::vector<Reading>> readings_;  ///< of the candidate's
  std::unordered_map<std::string, std::vector<Offer>> offers_;
  std::map<std::size_t, Taken> taken_;
  Recasts made_;
};

}  // namespace

std::string together(std::span<const std::string> names) {
  const std::string& first = names.front();
  std::size_t begin = 0, end = 0;  // equal at the start, and at the end
  const auto all = [&](const auto& same) { return std::ranges::all_of(names, same); };
  while (begin < first.size() && all([&](const std::string& name) {
           return begin < name.size() && name[begin] == first[begin];
         })) {
    ++begin;
  }
  while (end < first.size() - begin && all([&](const std::string& name) {
           return end < name.size() - begin &&
                  name[name.size() - 1 - end] == first[first.size() - 1 - end];
         })) {
    ++end;
  }
  const std::size_t dot = first.rfind('.', begin == 0 ? 0 : begin - 1);
  begin = begin > 0 && dot < begin ? dot + 1 : 0;
  const std::size_t next = first.find('.', first.size() - end);
  end = next == std::string::npos ? 0 : first.size() - next;
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ",") + name.substr(begin, name.size() - end - begin);
  }
  if (names.size() == 1) return first;
  return first.substr(0, begin) + "{" + list + "}" + first.substr(first.size() - end);
}

Recasts recast(const Alone& reference, const Alone& candidate, const Readings& readings,
               const Numbers& numbers) {
  return Recasting(reference, candidate, readings, numbers).run();
}

}  // namespace ttcheck::align
