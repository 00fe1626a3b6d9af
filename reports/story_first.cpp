// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "reports/escape.hpp"
#include "reports/first.hpp"
#include "reports/off_by.hpp"
#include "reports/story.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// The part of its message that explains.
std::string why_words(const Finding& finding) {
  const bool what = finding.code == Code::trained_apart || finding.code == Code::checksum;
  if (what) return "";  // all of it says what
  std::string why = finding.message.substr(0, finding.aside);
  why.erase(0, std::min(finding.why, why.size()));
  if (why.starts_with("; ")) why.erase(0, 2);
  const std::string words = message_text(why);
  return finding.code == Code::op_wrong ? "the op itself is wrong: " + words : words;
}

/// What its message says beside: why more is not known.
std::string aside_words(const Finding& finding) {
  if (finding.aside >= finding.message.size()) return "";
  const std::string aside = message_text(finding.message.substr(finding.aside));
  return aside.starts_with("; ") ? aside.substr(2) : aside;
}

/// Whether that part only tells where it is.
bool tells_place(const Finding& finding) {
  return !finding.hypotheses.empty() && finding.hypotheses.front().name == "localised" &&
         (finding.code == Code::localised || finding.code == Code::non_finite);
}

/// How far it is off, or, of what training moved, how far all of it is.
std::string what_words(const Verdict& verdict, const TensorResult& result) {
  const bool apart = std::ranges::find(verdict.findings, Code::trained_apart, &Finding::code) !=
                     verdict.findings.end();
  if (!apart || !verdict.relation) return off_words(result);
  return message_text(verdict.relation->evidence);
}

/// Where it is worst, and what is there.
std::string worst_words(const TensorResult& result) {
  const std::int64_t index = worst_index(result.metrics);
  const std::string values = values_words(result);
  if (index < 0 || values.empty()) return "";
  const std::string place =
      result.shape.empty() ? "" : bracketed(unravel(result.shape, index)) + ": ";
  return place + values;
}

/// "steps 10,20 agree" where earlier ones were compared.
std::string steps_before(const Verdict& verdict) {
  std::vector<std::int64_t> steps;
  for (const std::int64_t step : verdict.tally.steps) {
    if (verdict.first->step && step < *verdict.first->step) steps.push_back(step);
  }
  if (steps.empty()) return "";
  return fmt::format("{} {} {}", steps.size() == 1 ? "step" : "steps", stepped(steps),
                     steps.size() == 1 ? "agrees" : "agree");
}

/// What is right before it.
std::string before_words(const Verdict& verdict) {
  std::string text = steps_before(verdict);
  if (!verdict.first->before) return text;
  const auto& [equal, noise, last] = *verdict.first->before;
  if (!text.empty()) text += "; in this one ";
  text += counted(equal + noise, "record") + (equal + noise == 1 ? " agrees" : " agree");
  if (noise > 0 && equal > 0) text += fmt::format(", {} bit for bit", thousands(equal));
  if (noise == 0) text += " bit for bit";
  return text + "; the last is " + shown(last);
}

/// What else is wrong, and whether it only follows.
std::string after_words(const Verdict& verdict) {
  const std::int64_t more = verdict.tally.of(Outcome::diverged) - 1;
  if (more < 1) return "";
  std::string text =
      fmt::format("{} {} off", counted(more, "more record"), more == 1 ? "is" : "are");
  if (verdict.roots.empty()) return text + (more == 1 ? ", later" : ", all later") + " in the step";
  const auto& own = verdict.roots.front();
  return own.inherited > 0 ? text + fmt::format("; {} only pass this on", thousands(own.inherited))
                           : text;
}

/// Of stored states, what is right beside what is wrong.
std::string others_words(const Verdict& verdict) {
  const std::int64_t equal = verdict.tally.of(Outcome::equal);
  const std::int64_t noise = verdict.tally.of(Outcome::noise);
  if (equal + noise == 0) return "";
  if (noise == 0) {
    return fmt::format("the other {} {} equal{}", thousands(equal), equal == 1 ? "is" : "are",
                       casts_of(verdict.tally) == 0 ? " bit for bit" : "");
  }
  return fmt::format("{} are equal, {} differ by no more than is explained", thousands(equal),
                     thousands(noise));
}

/// Of what is noise: where it is nearest to its limit.
std::string nearest_words(const Verdict& verdict) {
  const TensorResult* nearest = nullptr;
  for (const TensorResult& one : verdict.tensors) {
    if (one.outcome() != Outcome::noise || one.allowance || !std::isfinite(one.ratio)) continue;
    if (nearest == nullptr || one.ratio > nearest->ratio) nearest = &one;
  }
  if (nearest == nullptr || !(nearest->ratio > 0)) return "";
  std::string place = shown(nearest->identity);
  if (nearest->step && verdict.tally.steps.size() > 1) {
    place += fmt::format(", step {}", *nearest->step);
  }
  return fmt::format("{}: {}", place, off_words(*nearest));
}

}  // namespace

std::vector<StoryLine> story_first(const Verdict& verdict) {
  if (verdict.outcome == Outcome::noise) {
    std::string nearest = nearest_words(verdict);
    if (nearest.empty()) return {};
    return {{"largest", std::move(nearest), 7}};
  }
  if (!verdict.first) return {};
  std::vector<StoryLine> lines;
  const auto tell = [&](std::string_view label, std::string text, int weight) {
    if (!text.empty()) lines.push_back({label, std::move(text), weight});
  };
  const bool trace = verdict.first->phase != Phase::none;
  for (const std::string& cause : causes_before(verdict)) tell("cause?", cause, 5);
  const TensorResult* const result = result_of_first(verdict);
  const Finding* const finding = finding_of_first(verdict);
  const bool alone = verdict.tally.of(Outcome::diverged) == 1;  // no row of a table names it
  if (result != nullptr) {
    if (alone) tell(trace ? "record" : "tensor", shown(result->identity), 9);
    if (result->metrics.unequal_values != 1) tell("what", what_words(verdict, *result), 9);
    tell("worst at", worst_words(*result), 8);
  }
  if (finding != nullptr && !tells_lack(*finding)) {
    const std::string why = why_words(*finding);
    const bool place = tells_place(*finding);
    tell(place ? "where" : "why", why, 8);
    if (trace && (place || why.empty())) tell("why", aside_words(*finding), 5);
  }
  tell("right", before_words(verdict), 6);
  if (trace) tell("behind it", after_words(verdict), 6);
  if (trace) tell("also wrong", other_roots(verdict), 6);
  if (!trace && result != nullptr) tell("others", others_words(verdict), 6);
  return lines;
}

}  // namespace ttcheck::reports
