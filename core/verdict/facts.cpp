// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/digits.hpp"
#include "core/base/name_map.hpp"

namespace ttcheck::verdict {
namespace {

bool same(const FactValue& a, const FactValue& b) {
  if (a == b) return true;
  if (a.index() == b.index()) {  // two NaNs are the same statement
    const auto* x = std::get_if<double>(&a);
    const auto* y = std::get_if<double>(&b);
    return x != nullptr && y != nullptr && *x != *x && *y != *y;
  }
  const auto left = number_of(a);
  const auto right = number_of(b);
  return left && right && *left == *right;
}

/// A side's facts by name; of several with one name the first.
class Index {
 public:
  explicit Index(const std::vector<Fact>& facts) {
    for (const Fact& fact : facts) {
      by_name_.try_emplace(fact.name, &fact);
      sources_.insert(fact.source);
    }
  }

  bool has(FactSource source) const { return sources_.contains(source); }

  const Fact* find(std::string_view name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second;
  }

 private:
  NameViewMap<const Fact*> by_name_;
  std::set<FactSource> sources_;
};

/// `lr` of `lr.rank.3`; empty where the name is of no rank.
std::string_view shared_name(std::string_view name) {
  const std::size_t at = name.rfind(".rank.");
  if (at == std::string_view::npos) return {};
  const std::string_view rank = name.substr(at + 6);
  const bool digits = is_number(rank);
  return digits ? name.substr(0, at) : std::string_view();
}

/// Meets each fact of one side with the other side's.
class Meeting {
 public:
  Meeting(const std::vector<Fact>& reference, const std::vector<Fact>& candidate, bool same_mesh)
      : reference_(reference), candidate_(candidate), same_mesh_(same_mesh) {
    note_expanded(reference, candidate_);
    note_expanded(candidate, reference_);
  }

  void add(const Fact& fact) {
    if (!seen_.insert(fact.name).second) return;
    const std::string_view shared = shared_name(fact.name);
    const Fact* left = found(reference_, fact.name, shared);
    const Fact* right = found(candidate_, fact.name, shared);
    if ((left == nullptr || right == nullptr) && expanded_.contains(fact.name)) return;
    left = counts(left, right) ? left : nullptr;
    right = counts(right, left) ? right : nullptr;
    if (left == nullptr && right == nullptr) return;
    FactResult result{fact.name, std::nullopt, std::nullopt, "equal"};
    if (left != nullptr) result.reference = left->value;
    if (right != nullptr) result.candidate = right->value;
    judge(left, right, result);
    const bool unread = result.verdict == "unread";
    const auto is_note = [&](const Fact* one) {
      return !unread && one != nullptr && one->use == FactUse::note;
    };
    // What is of one rank, a generator's state for one, says nothing of another mesh's ranks.
    const bool of_rank =
        !shared.empty() || (result.opaque && fact.name.find("rng") != std::string::npos);
    const bool note = is_note(left) || is_note(right) || (of_rank && !same_mesh_);
    if (note && result.verdict != "equal") {
      result.verdict = "note";
      result.severity.reset();
    }
    results.push_back(std::move(result));
  }

  std::vector<FactResult> results;

 private:
  /// A default is worth something only beside a value that the same source states.
  static bool counts(const Fact* one, const Fact* other) {
    if (one == nullptr || !one->assumed) return one != nullptr;
    return other != nullptr && !other->assumed && other->source == one->source;
  }

  /// REQUIRES one of the two.
  void judge(const Fact* left, const Fact* right, FactResult& result) const {
    if (left != nullptr && right != nullptr) {
      if (left->unread || right->unread) {
        result.verdict = "unread";
        result.severity = Severity::warning;
        return;
      }
      if (left->assumed) result.assumed = "reference";
      if (right->assumed) result.assumed = "candidate";
      result.opaque = left->use == FactUse::opaque || right->use == FactUse::opaque;
      if (same(left->value, right->value)) {
        if (!result.assumed.empty()) result.verdict = "note";
        return;
      }
      result.verdict = "differs";
      result.severity = result.opaque ? Severity::warning : Severity::error;
      return;
    }
    const Fact& there = left != nullptr ? *left : *right;
    result.verdict = left != nullptr ? "only-reference" : "only-candidate";
    const Index& silent = left != nullptr ? candidate_ : reference_;
    if (there.source != FactSource::none && silent.has(there.source)) {
      result.severity = Severity::warning;
    }
  }

  static const Fact* found(const Index& side, std::string_view name, std::string_view shared) {
    const Fact* own = side.find(name);
    return own != nullptr || shared.empty() ? own : side.find(shared);
  }

  /// Shared facts of `there` that these have by rank: where only by rank, they are compared so.
  void note_expanded(const std::vector<Fact>& facts, const Index& there) {
    for (const Fact& fact : facts) {
      const std::string_view shared = shared_name(fact.name);
      if (!shared.empty() && there.find(shared) != nullptr) expanded_.insert(shared);
    }
  }

  Index reference_, candidate_;
  bool same_mesh_;
  NameViewSet seen_, expanded_;
};

std::string words_of(const FactResult& fact) {
  const auto side = [&](const std::optional<FactValue>& value, std::string_view name) {
    if (!value) return fmt::format("not stated in the {}", name);
    const std::string text = ttcheck::to_string(*value);
    if (fact.assumed != name) return fmt::format("{} in the {}", text, name);
    return fmt::format("not stated in the {}, which makes it {}", name, text);
  };
  return fmt::format("{} is {} and {}", fact.name, side(fact.reference, "reference"),
                     side(fact.candidate, "candidate"));
}

Finding finding_of(const FactResult& fact, std::optional<std::int64_t> step, Severity severity) {
  Finding finding;
  finding.code = Code::config;
  finding.severity = severity;
  finding.step = step;
  finding.message = words_of(fact);
  if (fact.verdict == "unread") {
    finding.code = Code::unreadable;
    finding.incomplete = true;
  }
  return finding;
}

}  // namespace

std::vector<FactResult> compare_facts(const std::vector<Fact>& reference,
                                      const std::vector<Fact>& candidate, bool same_mesh) {
  Meeting meeting(reference, candidate, same_mesh);
  for (const Fact& fact : reference) meeting.add(fact);
  for (const Fact& fact : candidate) meeting.add(fact);
  return std::move(meeting.results);
}

void add_facts(std::span<const FactResult> facts, std::optional<std::int64_t> step,
               std::vector<FactResult>& known) {
  NameMap<std::size_t> places;
  for (std::size_t i = 0; i < known.size(); ++i) places.emplace(known[i].name, i);
  for (const FactResult& fact : facts) {
    if (!fact.severity) continue;
    const auto [at, fresh] = places.try_emplace(fact.name, known.size());
    if (fresh) known.emplace_back();
    FactResult& one = known[at->second];
    if (!fresh && one.severity) continue;
    one = fact;
    one.step = step;
  }
}

std::vector<Finding> fact_findings(std::span<const FactResult> facts,
                                   std::optional<std::int64_t> step) {
  std::vector<Finding> findings;
  for (const FactResult& fact : facts) {
    if (fact.severity && !fact.opaque) findings.push_back(finding_of(fact, step, *fact.severity));
  }
  return findings;
}

std::vector<Finding> opaque_findings(std::span<const FactResult> facts,
                                     std::optional<std::int64_t> step, bool equal) {
  const bool copies = equal && std::ranges::none_of(facts, [](const FactResult& fact) {
                        return !fact.opaque && fact.severity == Severity::error;
                      });
  std::vector<Finding> findings;
  for (const FactResult& fact : facts) {
    if (!fact.severity || !fact.opaque) continue;
    findings.push_back(finding_of(fact, step, copies ? Severity::error : *fact.severity));
  }
  return findings;
}

}  // namespace ttcheck::verdict
