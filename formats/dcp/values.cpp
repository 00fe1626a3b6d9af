// SPDX-License-Identifier: Apache-2.0
// A flattened optimizer stores each option of each parameter as an item of its own. The options
// are therefore collected by owner, and only when all tables are read do owners whose options are
// the same become one group; groups are numbered in the order of their owners in the saved paths,
// then of the model. Groups that were saved as a list or by number keep their numbers.
//
// The first bytes of an item tell what it is. A torch file is walked: its tensors become records,
// and it stays open for them; its other leaves become facts. Of any other bytes the size and a
// hash are a fact. A fact that a rank states otherwise than the first one is kept under
// `.rank.<r>`. An item that cannot be read is a finding, and the others count. What bounds the
// work is a budget for each walk, which grows with the item's pickle, and a limit of 200,000
// items.

#include "formats/dcp/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/digits.hpp"
#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxRead = 200'000;  ///< values that are opened, each a small archive

/// Numbers by value, names by text.
bool ordered(const std::string& a, const std::string& b) {
  if (is_number(a) && is_number(b) && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

bool is_torch_file(const Source& bytes) {
  std::array<std::byte, 4096> head{};
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), bytes.size()));
  const std::span<std::byte> start = std::span(head).first(size);
  bytes.read(0, start);
  return torch_signature(start) != Bid::none;
}

Fact raw_fact(const std::string& name, const Source& bytes) {
  Stream in(bytes);
  return {name, fmt::format("{} bytes, xxh3 {:016x}", bytes.size(), in.hash(bytes.size(), "bytes")),
          use_of(name) == FactUse::note ? FactUse::opaque : use_of(name), bytes.where(0)};
}

/// The path under which a value is listed.
std::string path_of(const DcpKey& key) {
  return key.role == DcpKey::Role::state ? key.owner + "@" + key.field : key.name;
}

}  // namespace

void DcpValues::add(DcpData& data, std::int32_t rank) {
  for (const DcpItem& item : data.metadata().items) {
    if (read_ == kMaxRead) {
      data.pass(item.place, item.name);
      if (!cut_) {
        state_.findings.push_back(
            beyond(data.metadata().where,
                   fmt::format("limit reached: values after the first {} are not read", kMaxRead)));
      }
      cut_ = true;
      ++state_.unreadable;
      continue;
    }
    try {
      read(data, item, rank);
    } catch (const Error& error) {
      Finding finding = unreadable(error, item.name);
      if (rank != kNoRank) finding.ranks = {rank};
      state_.findings.push_back(std::move(finding));
    }
    ++read_;
  }
}

void DcpValues::read(DcpData& data, const DcpItem& item, std::int32_t rank) {
  const DcpKey key = names_.key(item.name);
  std::optional<DcpStream> stream = data.bytes(item);
  if (!stream) return;
  const Source& bytes = stream->bytes();
  if (!is_torch_file(bytes)) return add_fact(raw_fact(item.name, bytes), rank);
  TorchFile file = read_torch(bytes);
  for (const Finding& finding : file.findings()) {
    if (finding.severity != Severity::note) state_.findings.push_back(finding);
  }
  bool kept = false;
  take(file, file.root(), key, rank, kept);
  if (!kept) return;
  stream->settle();
  kept_->push_back(std::make_unique<Item>(std::move(*stream), std::move(file)));
}

void DcpValues::take(const TorchFile& file, Value value, const DcpKey& key, std::int32_t rank,
                     bool& kept) {
  if (key.role == DcpKey::Role::groups) return take_groups(file, value, key, rank);
  if (key.role == DcpKey::Role::option) return take_option(value, key, key.owner, key.field, rank);
  WalkBudget budget(file.pickle());
  Leaves leaves;
  add_leaves(value, path_of(key), false, budget, leaves);
  for (const Leaf& leaf : leaves.others) add_fact(fact_of(leaf), rank);
  if (leaves.cut) {
    state_.findings.push_back(
        beyond(value.where(),
               "limit reached: values are nested or shared so often that not all paths "
               "were followed"));
  }
  for (const Leaf& leaf : leaves.tensors) {
    try {
      const TorchTensor tensor = file.tensor(leaf.value);
      if (!tensor.opaque.empty()) {
        throw Error(fmt::format("is a {}, which is not compared", tensor.opaque),
                    leaf.value.where());
      }
      state_.records.push_back(record_of(leaf.path, tensor, rank));
      kept = true;
    } catch (const Error& error) {
      state_.findings.push_back(unreadable(error, leaf.path));
      ++state_.unreadable;
    }
  }
}

void DcpValues::take_groups(const TorchFile& file, Value list, const DcpKey& key,
                            std::int32_t rank) {
  WalkBudget budget(file.pickle());
  const auto groups = sequence(list).value_or(std::vector<Value>());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const auto& [name, value] : mapping(groups[g]).value_or(std::vector<KeyValue>())) {
      if (!budget.look_at(value)) return;
      take_option(value, key, fmt::format("{}", g), path_part(name), rank);
    }
  }
}

void DcpValues::take_option(Value value, const DcpKey& key, const std::string& group,
                            const std::string& field, std::int32_t rank) {
  if (field == "params" || field == "param_names") {
    std::vector<std::string>& listed = parameters_[key.optimizer][group];
    if (field == "params" && listed.empty()) {
      for (const Value& id : sequence(value).value_or(std::vector<Value>())) {
        listed.push_back(path_part(id));
      }
    }
    return;
  }
  auto& groups = options_[key.optimizer];
  const auto [known, fresh] = groups_[key.optimizer].try_emplace(group, groups.size());
  if (fresh) groups.emplace_back(group, Options());
  Options& options = groups[known->second].second;
  Fact fact = fact_of({field, value});
  const auto [first, first_one] = options.try_emplace(field, fact);
  if (first_one || to_string(first->second.value) == to_string(fact.value)) return;
  options.try_emplace(fmt::format("{}.rank.{}", field, rank), std::move(fact));
}

void DcpValues::add_fact(Fact fact, std::int32_t rank) {
  const auto [first, fresh] = places_.try_emplace(fact.name, state_.facts.size());
  if (!fresh) {
    if (to_string(state_.facts[first->second].value) == to_string(fact.value)) return;
    fact.name += fmt::format(".rank.{}", rank);
  }
  state_.facts.push_back(std::move(fact));
}

void DcpValues::add_groups() {
  std::map<std::string, std::vector<std::string>> owners = names_.option_owners();
  for (auto& [optimizer, groups] : options_) {
    const std::string stem = names_.optimizers().size() == 1 ? "optimizer"
                             : optimizer.empty()             ? "optimizer"
                                                             : optimizer;
    const bool numbered =
        std::ranges::all_of(groups, [](const auto& group) { return is_number(group.first); });
    if (numbered) {
      std::ranges::sort(groups,
                        [](const auto& a, const auto& b) { return ordered(a.first, b.first); });
    } else {
      NameMap<std::size_t> order;
      for (const auto* names : {&std::as_const(owners[optimizer]), &names_.parameters()}) {
        for (const std::string& name : *names) order.try_emplace(name, order.size());
      }
      const auto place = [&](const auto& group) {
        const auto at = order.find(group.first);
        return at == order.end() ? order.size() : at->second;
      };
      std::ranges::stable_sort(groups,
                               [&](const auto& a, const auto& b) { return place(a) < place(b); });
    }
    std::map<std::string, std::size_t> alike;
    for (auto& [name, options] : groups) {
      std::string text;
      for (const auto& [field, fact] : options) {
        text += fmt::format("{}={}\n", field, to_string(fact.value));
      }
      const std::string own = numbered ? name : text;
      const auto [known, fresh] = alike.try_emplace(own, alike.size());
      if (!fresh) continue;
      for (auto& [field, fact] : options) {
        fact.name = fmt::format("{}.groups.{}.{}", stem,
                                numbered ? name : fmt::format("{}", known->second), field);
        add_fact(std::move(fact), kNoRank);
      }
    }
  }
}

std::map<std::string, std::vector<std::vector<std::string>>> DcpValues::parameters() const {
  std::map<std::string, std::vector<std::vector<std::string>>> all;
  for (const auto& [optimizer, groups] : parameters_) {
    std::vector<std::string> names;
    for (const auto& [group, listed] : groups) names.push_back(group);
    std::ranges::sort(names, ordered);
    for (const std::string& group : names) all[optimizer].push_back(groups.at(group));
  }
  return all;
}

}  // namespace ttcheck::formats
