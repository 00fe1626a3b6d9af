// SPDX-License-Identifier: Apache-2.0
#include "cli/trouble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "cli/asked.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/usage.hpp"
#include "core/base/clean_end.hpp"
#include "core/base/error.hpp"
#include "core/model/verdict.hpp"
#include "reports/escape.hpp"
#include "reports/report.hpp"

namespace ttcheck::cli {
namespace {

constexpr int kTrouble = 2;

bool json_asked(const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    return word == "--json" || word == "--out=json=-" || word == "json=-";
  });
}

int say(const std::vector<std::string>& words, const Error& error, int exit) {
  write_stderr(fmt::format("ttcheck: {}\n", reports::error_text(error)));
  if (!json_asked(words)) return exit;
  Verdict verdict = asked_by(words);
  verdict.reason = error.what();
  verdict.complete = false;
  verdict.exit = exit;
  verdict.argv = words_that_matter(words);
  try {
    write_stdout(reports::report_named("json")->write(verdict, {}));
  } catch (const Error&) {
    return exit;  // stdout is gone as well
  }
  return exit;
}

}  // namespace

int report_trouble(const std::vector<std::string>& words, std::exception_ptr trouble) {
  try {
    std::rethrow_exception(std::move(trouble));
  } catch (const Usage& usage) {
    return say(words, Error(usage.what()), kTrouble);
  } catch (const Error& error) {
    return say(words, error, kTrouble);
  } catch (const std::bad_alloc&) {
    return say(words, Error("out of memory"), kTrouble);
  } catch (const std::exception& fault) {
    return say(words, Error(fmt::format("internal error: {}", fault.what())), kInternal);
  } catch (...) {
    return say(words, Error("internal error"), kInternal);
  }
}

}  // namespace ttcheck::cli
