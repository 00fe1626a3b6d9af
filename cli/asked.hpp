// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a command's words ask for, known before any run is opened, and said when none could be.

#include <span>
#include <string>
#include <string_view>

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// A verdict of which nothing is known but the words: the runs' paths, and "not comparable" where
/// the command would have judged (`info`, `show` of one run and `manifest --write` do not).
Verdict asked_by(const Options& options);

/// The verdict, as of Options, of words that could not be parsed: `words[0]` may be no command, and
/// runs are named by the words before the first flag.
Verdict asked_by(std::span<const std::string> words);

}  // namespace ttcheck::cli
