#include "core/verdict/facts.hpp"

#include <fmt/format.h>

#include <optional>
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
    for (const Fact& fact : facts) by_name_.try_emplace(fact.name, &fact);
  }

  const Fact* find(std::string_view name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second;
  }

 private:
  NameViewMap<const Fact*> by_name_;
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
    FactResult result{fact.name, std::nullopt, std::nullopt, "equal"};
    if (left != nullptr) result.reference = left->value;
    if (right != nullptr) result.candidate = right->value;
    if (right == nullptr) result.verdict = "only-reference";
    if (left == nullptr) result.verdict = "only-candidate";
    if (left != nullptr && right != nullptr && !same(left->value, right->value))
      result.verdict = "differs";
    const auto is_note = [](const Fact* one) {
      return one != nullptr && one->use == FactUse::note;
    };
    const bool note = is_note(left) || is_note(right) || (!shared.empty() && !same_mesh_);
    if (note && result.verdict != "equal") result.verdict = "note";
    results.push_back(std::move(result));
  }

  std::vector<FactResult> results;

 private:
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

}  // namespace

std::vector<FactResult> compare_facts(const std::vector<Fact>& reference,
                                      const std::vector<Fact>& candidate, bool same_mesh) {
  Meeting meeting(reference, candidate, same_mesh);
  for (const Fact& fact : reference) meeting.add(fact);
  for (const Fact& fact : candidate) meeting.add(fact);
  return std::move(meeting.results);
}

std::vector<Finding> fact_findings(const std::vector<FactResult>& facts,
                                   std::optional<std::int64_t> step) {
  std::vector<Finding> findings;
  for (const FactResult& fact : facts) {
    if (fact.verdict != "differs") continue;
    Finding finding;
    finding.code = Code::config;
    finding.step = step;
    finding.message =
        fmt::format("{} is {} in the reference and {} in the candidate", fact.name,
                    ttcheck::to_string(*fact.reference), ttcheck::to_string(*fact.candidate));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ttcheck::verdict
