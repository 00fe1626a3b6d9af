// SPDX-License-Identifier: Apache-2.0
#include "formats/objects/judge.hpp"

#include <fmt/format.h>

#include <string>

#include "core/base/first_few.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/objects/globals.hpp"
#include "formats/objects/inner_pickles.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kListed = 8;  ///< names in one message
constexpr int kDeepest = 3;         ///< pickles inside byte strings of pickles

std::string join(const std::vector<const Global*>& globals) {
  std::vector<std::string> names;
  for (const Global* one : globals) names.push_back(one->module + "." + one->name);
  return first_few(names, kListed);
}

void judge(const Pickle& pickle, std::string_view what, int depth, std::vector<Finding>& findings) {
  std::vector<const Global*> code;
  std::vector<const Global*> unknown;
  for (const Global& global : pickle.globals()) {
    const GlobalClass kind = classify(global);
    if (kind == GlobalClass::code) code.push_back(&global);
    if (kind == GlobalClass::unknown && global.called) unknown.push_back(&global);
  }
  const Source& source = pickle.source();
  if (!code.empty()) {
    findings.push_back(
        odd(source.where(code.front()->offset),
            fmt::format("{} refers to what runs code (never called): {}", what, join(code)),
            Code::unsafe_pickle));
  }
  if (!unknown.empty()) {
    findings.push_back(
        remark(source.where(unknown.front()->offset),
               fmt::format("{} calls classes that are not known here (never called): {}", what,
                           join(unknown)),
               Code::unsafe_pickle));
  }
  for (const Oddity& oddity : pickle.oddities()) {
    const Where where = source.where(oddity.offset);
    const std::string message = fmt::format("{}: {}", what, oddity.message);
    findings.push_back(oddity.elsewhere ? beyond(where, message) : odd(where, message));
  }
  note_repeated_keys(pickle, what, findings);
  note_encoded_pickles(pickle, what, findings);
  if (depth < kDeepest) {
    for (const InnerPickle& inner : inner_pickles(pickle)) {
      const std::string name = fmt::format("a pickle in {} bytes of {}", inner.range.size, what);
      judge(inner.pickle, name, depth + 1, findings);
    }
  }
  if (!pickle.fault()) return;
  findings.push_back(depth == 0 ? unreadable(*pickle.fault())
                                : odd(pickle.fault()->where(), pickle.fault()->message()));
}

}  // namespace

void judge_pickle(const Pickle& pickle, std::string_view what, std::vector<Finding>& findings) {
  judge(pickle, what, 0, findings);
}

}  // namespace ttcheck::formats
