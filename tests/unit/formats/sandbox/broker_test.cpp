// SPDX-License-Identifier: Apache-2.0
#include "formats/sandbox/broker.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>

#include "tests/support/array_source.hpp"
#include "tests/support/error_of.hpp"

namespace ttcheck::formats {
namespace {

const WorkerParser kWaiting(nullptr, [](const Source&, std::string_view) -> std::vector<std::byte> {
  for (volatile bool more = true; more;) continue;
  return {};
});

std::uint64_t size_of(std::uint64_t number, std::string_view text) { return number + text.size(); }
std::uint64_t process(std::uint64_t, std::string_view) {
  return static_cast<std::uint64_t>(::getpid());
}
std::uint64_t fail(std::uint64_t number, std::string_view text) {
  const Where where{.file = "a file", .object = std::string(text)};
  const Error error = number == 0 ? Error("no good", where) : Error::unable("cannot", where);
  throw error.because("missing");
}
std::uint64_t is_child_signal_open(std::uint64_t, std::string_view) {
  sigset_t now;
  ::sigprocmask(SIG_SETMASK, nullptr, &now);
  return ::sigismember(&now, SIGCHLD) == 0 ? 1 : 0;
}

TEST_CASE("an errand is done in another process, and answers") {
  REQUIRE(set_apart({size_of, process}));
  CHECK(is_apart());
  CHECK(run_errand(0, 5, "") == 5);
  CHECK(run_errand(0, 5, std::string(5'000'000, 'x')) == 5'000'005);
  const std::uint64_t there = run_errand(1, 0, {});
  CHECK(there != static_cast<std::uint64_t>(::getpid()));
  CHECK(run_errand(1, 0, {}) == there);
}

TEST_CASE("an errand's error comes back whole") {
  REQUIRE(set_apart({fail}));
  for (const std::uint64_t unable : {0U, 1U}) {
    const std::optional<Error> thrown = caught([&] { run_errand(0, unable, "w"); });
    REQUIRE(thrown);
    const Error& error = *thrown;
    CHECK(error.message() == (unable == 0 ? "no good" : "cannot"));
    CHECK(error.is_unable() == (unable != 0));
    CHECK(error.where() == Where{.file = "a file", .object = "w"});
    CHECK(error.reason() == "missing");
  }
}

TEST_CASE("what an errand runs gets the signals that the program got") {
  REQUIRE(set_apart({is_child_signal_open}));
  CHECK(run_errand(0, 0, {}) == 1);
}

TEST_CASE("who asks for what there is not loses the broker") {
  REQUIRE(set_apart({size_of}));
  CHECK(tests::error_of([] { run_errand(1, 0, {}); }) == "the other process is gone");
  CHECK(tests::error_of([] { run_errand(0, 0, {}); }) == "the other process is gone");
  REQUIRE(set_apart({size_of}));
  CHECK(run_errand(0, 0, "ab") == 2);
}

TEST_CASE("a worker that nobody waits for is ended, and so is one of a broker that is") {
  REQUIRE(set_apart({process}));
  const tests::ArraySource file(std::vector<std::byte>(8));
  const WorkerEnds first = start_worker(kWaiting, file, {});
  first.control.end_sending();
  const auto status = static_cast<int>(first.control.receive_number());
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  const WorkerEnds second = start_worker(kWaiting, file, {});
  ::kill(static_cast<pid_t>(run_errand(0, 0, {})), SIGKILL);
  CHECK(tests::error_of([&] { second.data.receive_number(30'000); }) ==
        "the other process is gone");
  REQUIRE(set_apart({}));
}

}  // namespace
}  // namespace ttcheck::formats
