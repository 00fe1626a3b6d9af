// SPDX-License-Identifier: Apache-2.0
#include "core/diff/propose_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/align/neighbours.hpp"
#include "core/model/name_number.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

std::string counted_names(std::size_t count) {
  return fmt::format("{} name{}", count, count == 1 ? "" : "s");
}

std::optional<std::int64_t> layer_of(const Tensor& tensor) {
  const auto number = first_number(tensor.identity.name);
  return number ? std::optional(number->first) : std::nullopt;
}

}  // namespace

bool ProposedMap::is_whole(const Aligned& aligned) const {
  const align::Alignment& done = aligned.alignment;
  return pairs > 0 && !renumbers &&
         pairs == std::min(done.only_reference.size(), done.only_candidate.size());
}

std::optional<ProposedMap> propose_map(const Aligned& aligned) {
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
    return ProposedMap{std::move(finding)};
  }
  const Tensor& left = aligned.reference[near.pairs.front().reference];
  const Tensor& right = aligned.candidate[near.pairs.front().candidate];
  finding.tensor = left.identity.name;
  finding.candidate_tensor = right.identity.name;
  finding.message += fmt::format(
      "; nearest of equal shape: {} and {}; a map to paste into --map FILE:", left.identity.name,
      right.identity.name);
  finding.paste = align::map_to_paste(aligned.reference, aligned.candidate, near.pairs);
  const bool renumbers = std::ranges::any_of(near.pairs, [&](const align::Neighbour& one) {
    return layer_of(aligned.reference[one.reference]) != layer_of(aligned.candidate[one.candidate]);
  });
  return ProposedMap{std::move(finding), near.pairs.size(), renumbers};
}

}  // namespace ttcheck::diff
