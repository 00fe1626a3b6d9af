// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet_pairs.hpp"

#include <optional>

#include "core/diff/judge_by_manifest.hpp"
#include "core/diff/judge_without_bytes.hpp"
#include "core/diff/learning_rate.hpp"
#include "core/diff/limits_context.hpp"
#include "core/diff/meet_filters.hpp"
#include "core/diff/not_compared.hpp"
#include "core/diff/turned.hpp"
#include "core/diff/undeclared.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

class Meeting {
 public:
  Meeting(MetStep& met, const DiffContext& context, Verdict& verdict)
      : met_(met), context_(context), verdict_(verdict) {}

  void meet(std::size_t place) {
    if (met_.is_evidence(place)) return meet_evidence(place);
    const align::PairIndex& index = met_.alignment.pairs[place];
    const Tensor& left = met_.reference()[index.reference];
    const Tensor& right = met_.candidate()[index.candidate];
    if (is_same_by_manifest(index, left, right)) {
      met_.unread.push_back({place, true});
    } else if (!left.stored || !right.stored || (context_.how.by_hash && same_hash(left, right))) {
      if (index.rescaling == nullptr) {
        met_.unread.push_back({place, false});
      } else {
        uncompared_.add(left, "bytes were not stored, and a map changes the values");
      }
    } else if (left.shape != right.shape && is_guess(index)) {
      if (guesses_++ == 0) guess_ = &index;
    } else if (fits(left, right)) {
      add(place, index, left, right, met_.work);
    }
  }

  void report() {
    uncompared_.report(met_.step, verdict_);
    if (guess_ == nullptr) return;
    verdict_.coverage.unreadable += guesses_;
    verdict_.findings.push_back(verdict::guess_finding(met_.reference()[guess_->reference],
                                                       met_.candidate()[guess_->candidate],
                                                       met_.step, guesses_));
  }

 private:
  bool is_same_by_manifest(const align::PairIndex& index, const Tensor& left,
                           const Tensor& right) const {
    const bool as_stored = index.rescaling == nullptr && !left.rounding && !right.rounding;
    return as_stored && equal_by_manifest(left, right, index.rule, met_.steps, context_);
  }

  bool is_guess(const align::PairIndex& index) const {
    return assemble::may_be_of_one_shape(met_.sides->front().assembly, index.reference,
                                         met_.sides->back().assembly, index.candidate);
  }

  /// False where two shapes cannot be compared; it is said why.
  bool fits(const Tensor& left, const Tensor& right) {
    if (left.shape != right.shape && (left.undeclared || right.undeclared)) {
      uncompared_.add(left,
                      "nothing says how ranks hold it, and the other side's shape fits several "
                      "ways or none");
      return false;
    }
    if (left.shape == right.shape && is_complex(left.dtype) == is_complex(right.dtype)) return true;
    ++verdict_.coverage.paired;
    auto turned = context_.how.until_bad ? std::nullopt : turned_finding(left, right, met_.step);
    verdict_.findings.push_back(turned ? *std::move(turned)
                                       : verdict::shape_finding(left, right, met_.step));
    return false;
  }

  /// What can be compared is; of what cannot, nobody asked.
  void meet_evidence(std::size_t place) {
    const align::PairIndex& index = met_.alignment.pairs[place];
    const Tensor& left = met_.reference()[index.reference];
    const Tensor& right = met_.candidate()[index.candidate];
    const bool fits =
        left.shape == right.shape && is_complex(left.dtype) == is_complex(right.dtype);
    if (is_same_by_manifest(index, left, right)) return met_.unread.push_back({place, true});
    if (!left.stored && !right.stored) met_.unread.push_back({place, false});
    if (left.stored && right.stored && fits) add(place, index, left, right, met_.unreported);
  }

  void add(std::size_t place, const align::PairIndex& index, const Tensor& left,
           const Tensor& right, Work& work) {
    compare::Pair pair{&left, &right};
    if (const auto limit = limits::elementwise_limit(left, right, context_.limits())) {
      pair.tolerance = &*work.tolerances.insert({limit->rtol, limit->atol}).first;
    }
    if (index.rescaling != nullptr) {
      // Whoever made one side from the other rounded the result, so that either way back may be
      // inexact.
      compare::Pair& other = work.alternatives.emplace_back(work.pairs.size(), pair).other;
      other.reference_map = &index.rescaling->forward;
      pair.candidate_map = &index.rescaling->back;
    }
    add_ways(pair, context_.reference.mesh, context_.candidate.mesh, work);
    work.pairs.push_back(pair);
    work.places.push_back(place);
    work.rules.push_back(&index.rule);
  }

  MetStep& met_;
  const DiffContext& context_;
  Verdict& verdict_;
  Uncompared uncompared_;
  const align::PairIndex* guess_ = nullptr;  ///< the first pair of shapes that may be the same
  std::int64_t guesses_ = 0;
};

/// Evidence of traces that is too large is not read.
void leave_unread(MetStep& met, Verdict& verdict) {
  const std::uint64_t bytes = bytes_of(met.unreported);
  if (!met.trace || bytes <= kMostEvidence) return;
  met.unreported = {};
  verdict.findings.push_back(stands_alone(bytes, met.step));
}

}  // namespace

void meet_pairs(MetStep& met, const DiffContext& context, Verdict& verdict) {
  const std::size_t count = met.alignment.pairs.size();
  met.work.pairs.reserve(count);
  met.work.places.reserve(count);
  met.work.rules.reserve(count);
  Meeting meeting(met, context, verdict);
  for (std::size_t place = 0; place < count; ++place) meeting.meet(place);
  meeting.report();
  met.pairs.reserve(count);
  for (const align::PairIndex& pair : met.alignment.pairs) {
    met.pairs.push_back({&met.reference()[pair.reference], &met.candidate()[pair.candidate]});
  }
  leave_unread(met, verdict);
  for (const Work* const work : {&met.work, &met.unreported}) {
    for (std::size_t i = 0; i < work->pairs.size(); ++i) {
      met.pairs[work->places[i]].compared = &work->pairs[i];
    }
  }
  if (met.trace) met.work.context = met.unreported.context = context_of_pairs(met);
  if (!met.trace) met.work.rate = learning_rate(*met.sides);
}

}  // namespace ttcheck::diff
