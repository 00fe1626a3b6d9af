// SPDX-License-Identifier: Apache-2.0
#include "cli/answer.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/apart.hpp"
#include "cli/asked.hpp"
#include "cli/kept_inputs.hpp"
#include "cli/open.hpp"
#include "cli/output.hpp"
#include "cli/secrets.hpp"
#include "cli/usage.hpp"
#include "core/base/interrupted.hpp"
#include "core/base/until_exit.hpp"
#include "core/verdict/unread.hpp"
#include "reports/escape.hpp"
#include "reports/redact.hpp"
#include "reports/report.hpp"

namespace ttcheck::cli {
namespace {

bool color_wanted(When when) {
  if (when != When::automatic) return when == When::always;
  const char* forbidden = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (forbidden == nullptr || *forbidden == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

/// Of the terminal; without one what COLUMNS says, as of a pipe to a pager.
int terminal_width() {
  constexpr int kLeast = 60, kDefault = 100, kMost = 1000;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<int>(size.ws_col, kLeast);
  }
  const char* const columns = std::getenv("COLUMNS");
  const std::string_view digits = columns == nullptr ? "" : columns;
  int stated = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), stated);
  return stated > 0 && stated <= kMost ? std::max(stated, kLeast) : kDefault;
}

/// The encoding of the terminal, as the environment states it; others print characters of ASCII.
bool shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale.find("UTF-8") != std::string_view::npos ||
           locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

reports::ReportOptions report_options(const Options& options) {
  return {.color = color_wanted(options.color),
          .verbose = options.verbose,
          .rows = options.rows,
          .top = options.top,
          .all = options.all,
          .show_map = options.show_map,
          .width = terminal_width(),
          .unicode = shows_utf8()};
}

/// An allocation beyond the budget then fails, and the program says so instead of being killed.
void bound_memory(std::uint64_t bytes) {
  if (bytes == 0) return;
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  ::setrlimit(RLIMIT_DATA, &limit);
}

/// What is left to say when the command could not do its job.
Verdict failed(const Options& options, const Error& error) {
  Verdict verdict = asked_by(options);
  verdict.reason = error.reason();
  verdict.complete = false;
  verdict::report_unread_step(error, {}, verdict);
  verdict.findings.back().severity = Severity::warning;  // it only names the reason; exit code 2
  return verdict;
}

/// True when all reports could be written; says on stderr which could not.
bool write_reports(const Options& options, const Verdict& whole,
                   const std::vector<reports::Secret>& secret) {
  std::optional<Verdict> hidden;
  if (options.redact) hidden = reports::redacted(whole, secret);
  const Verdict& verdict = hidden ? *hidden : whole;
  bool written = true, replaced = false;
  const reports::ReportOptions how = report_options(options);
  reports::ReportOptions plain = how;  // of what no terminal shows
  plain.color = plain.unicode = false;
  const reports::Report* const terminal = reports::report_named("terminal");
  const auto attempt = [&](const auto& write) {
    try {
      write();
    } catch (const Error& error) {
      write_stderr(fmt::format("ttcheck: {}\n", reports::error_text(error)));
      written = false;
    }
  };
  for (const OutputTarget& target : options.outputs) {
    replaced = replaced || target.path == "-";
    attempt([&] {
      const bool screen = target.path == "-" && target.report == terminal;
      reports::ReportOptions as = screen ? how : plain;
      if (target.report != terminal) as.verbose = std::max(as.verbose, 0);  // -q is of the screen
      const std::string text = target.report->write(verdict, as);
      if (target.path == "-") return write_stdout(text);
      write_output(options, target.path, text);
    });
  }
  if (!options.screen && verdict.exit != 0) write_stderr(terminal->write(verdict, plain));
  if (replaced || !options.screen) return written;
  attempt([&] { write_stdout(terminal->write(verdict, how)); });
  return written;
}

}  // namespace

int exit_code(const Verdict& verdict, FailOn fail_on) {
  const auto has = [&](Severity least) {
    return std::ranges::any_of(verdict.findings,
                               [&](const Finding& finding) { return finding.severity >= least; });
  };
  const bool diverged = verdict.outcome == Outcome::diverged;
  bool found = false;
  switch (fail_on) {
    case FailOn::noise:
      found = diverged || verdict.outcome == Outcome::noise || has(Severity::warning);
      break;
    case FailOn::warning:
      found = diverged || has(Severity::warning);
      break;
    case FailOn::error:
      found = diverged || has(Severity::error);
      break;
    case FailOn::never:
      break;
  }
  const bool trouble = !verdict.complete || verdict.outcome == Outcome::not_comparable;
  return (found ? 1 : 0) + (trouble ? 2 : 0);
}

int answer(const Options& options, Verdict (*command)(const Options&)) {
  if (std::ranges::count(options.outputs, "-", &OutputTarget::path) > 1) {
    throw Usage("--out: stdout takes one report");
  }
  try {
    refuse_inputs(options);
  } catch (const Error& error) {
    throw Usage(error.what());
  }
  const std::vector<reports::Secret> secret =
      options.redact ? secrets() : std::vector<reports::Secret>();
  confine_to(options);
  bound_memory(options.max_memory);
  Options how = options;
  const auto held = std::make_shared<Verdict>();
  keep_until_exit(held);
  Verdict& verdict = *held;
  try {
    try {
      if (how.timing) how.timing->begin("open");
      read_files(how);
      verdict = command(how);
    } catch (const std::bad_alloc&) {
      throw Error(options.max_memory == 0 ? "out of memory"
                                          : "out of the memory that --max-memory allows");
    }
  } catch (const Error& error) {
    write_stderr(fmt::format("ttcheck: {}\n", reports::error_text(error)));
    verdict = failed(options, error);
    how.verbose = -1;  // stderr has said it
  }
  const bool kept = !verdict.command.empty() && verdict.command != options.command;
  if (!kept) {  // else it is the answer that another command gave
    verdict.command = options.command;
    verdict.argv = options.argv;
    verdict.exit = exit_code(verdict, options.fail_on);
  }
  const int signal = interrupted();
  if (signal != 0 && !verdict.complete) verdict.exit = 128 + signal;
  if (how.timing) how.timing->begin("report");
  const bool written = write_reports(how, verdict, secret);
  if (how.timing) write_stderr(how.timing->text());
  if (kept) return written ? 0 : 2;
  if (written) return verdict.exit;
  return verdict.exit > 128 ? verdict.exit : verdict.exit | 2;
}

}  // namespace ttcheck::cli
