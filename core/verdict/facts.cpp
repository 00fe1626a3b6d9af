#include "core/verdict/facts.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

namespace ttcheck::verdict {
namespace {

std::optional<double> number(const FactValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

bool same(const FactValue& a, const FactValue& b) {
  if (a == b) return true;
  if (a.index() == b.index()) {  // two NaNs are the same statement
    const auto* x = std::get_if<double>(&a);
    const auto* y = std::get_if<double>(&b);
    return x != nullptr && y != nullptr && *x != *x && *y != *y;
  }
  const auto left = number(a);
  const auto right = number(b);
  return left && right && *left == *right;
}

}  // namespace

std::vector<FactResult> compare_facts(const std::vector<Fact>& reference,
                                      const std::vector<Fact>& candidate) {
  std::vector<FactResult> results;
  std::set<std::string_view> seen;
  for (const Fact& fact : reference) {
    if (!seen.insert(fact.name).second) continue;
    const Fact* other = find_fact(candidate, fact.name);
    FactResult result{fact.name, fact.value, std::nullopt, "only-reference"};
    if (other != nullptr) {
      result.candidate = other->value;
      result.verdict = same(fact.value, other->value) ? "equal" : "differs";
    }
    const bool note =
        fact.use == FactUse::note || (other != nullptr && other->use == FactUse::note);
    if (note && result.verdict != "equal") result.verdict = "note";
    results.push_back(std::move(result));
  }
  for (const Fact& fact : candidate) {
    if (!seen.insert(fact.name).second) continue;
    const bool note = fact.use == FactUse::note;
    results.push_back({fact.name, std::nullopt, fact.value, note ? "note" : "only-candidate"});
  }
  return results;
}

std::vector<Finding> fact_findings(const std::vector<FactResult>& facts,
                                   std::optional<std::int64_t> step) {
  std::vector<Finding> findings;
  for (const FactResult& fact : facts) {
    if (fact.verdict != "differs") continue;
    Finding finding;
    finding.code = Code::config;
    finding.step = step;
    finding.message = fmt::format("{} is {} in the reference and {} in the candidate", fact.name,
                                  to_string(*fact.reference), to_string(*fact.candidate));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ttcheck::verdict
