#include "core/diff/propose_map.hpp"

#include <fmt/format.h>

#include "core/align/neighbours.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

std::string counted_names(std::size_t count) {
  return fmt::format("{} name{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::optional<Finding> propose_map(const Aligned& aligned) {
  const align::Neighbours near =
      align::neighbours(aligned.reference, aligned.candidate, aligned.alignment);
  if (near.pairs.empty() && near.unclear == 0) return std::nullopt;
  Finding finding =
      verdict::note(Code::name_mapping, aligned.step,
                    fmt::format("{} of the reference and {} of the candidate do not meet",
                                counted_names(aligned.alignment.only_reference.size()),
                                aligned.alignment.only_candidate.size()));
  if (near.unclear > 0) {
    finding.message +=
        fmt::format("; any of several of its shape may be meant by each of {}", near.unclear);
  }
  if (near.pairs.empty()) {
    finding.message += ", so no map is proposed: name the pairs in --map FILE";
    return finding;
  }
  const Tensor& left = aligned.reference[near.pairs.front().reference];
  const Tensor& right = aligned.candidate[near.pairs.front().candidate];
  finding.tensor = left.identity.name;
  finding.candidate_tensor = right.identity.name;
  finding.message += fmt::format(
      "; nearest of equal shape: {} and {}; a map to paste into --map FILE:", left.identity.name,
      right.identity.name);
  finding.paste = align::map_to_paste(aligned.reference, aligned.candidate, near.pairs);
  return finding;
}

}  // namespace ttcheck::diff
