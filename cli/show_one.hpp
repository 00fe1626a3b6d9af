#pragma once
// `ttcheck show RUN TENSOR`: one tensor of one run.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// The newest step that has it, within --step; of several records the first. Throws Error.
Verdict show_one(const Options& options);

/// Which of `records` alike one is, `at` counted from 0, in words; empty for the only one.
std::string record_words(std::size_t at, std::size_t records, const Identity& identity);

}  // namespace ttcheck::cli
