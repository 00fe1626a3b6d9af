// SPDX-License-Identifier: Apache-2.0
// A broken precondition ends the process, in the builds that check them.

#include "core/base/require.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <string>

#include "core/align/box_map.hpp"
#include "core/align/rescaling.hpp"
#include "core/assemble/cut.hpp"
#include "core/base/checked.hpp"
#include "core/model/box.hpp"
#include "core/model/gather.hpp"
#include "tests/unit/skip.hpp"

namespace ttcheck {
namespace {

/// What `work` said on stderr until it aborted; nothing when it did not.
std::string last_words(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    std::signal(SIGABRT, SIG_DFL);  // doctest has a handler
    dup2(ends[1], STDERR_FILENO);
    work();
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  std::array<char, 256> part{};
  for (ssize_t n = 0; (n = read(ends[0], part.data(), part.size())) > 0;) {
    said.append(part.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? said : "";
}

bool ends_at(const std::function<void()>& work, const std::string& file, const std::string& what) {
  const std::string said = last_words(work);
  CAPTURE(said);
  const bool so = said.find(file) != std::string::npos && said.ends_with(what + "\n");
  CHECK(so);
  return so;
}

TEST_CASE("a broken precondition ends the process with its place") {
  if (!kRequires) {
    require(false, "nothing");  // a release takes it for what it is worth
    return tests::skip_case("this build does not check preconditions");
  }
  CHECK(last_words([] { require(true, "nothing"); }).empty());
  ends_at([] { require(false, "two and two"); }, "require_test.cpp:", "required: two and two");
  ends_at([] { intersect(whole({2, 3}), whole({2})); },
          "core/model/box.cpp:", "equal numbers of dimensions");
  ends_at([] { assemble::cut({{0, 8}}, {}, 2, 2); },
          "core/assemble/cut.cpp:", "a coordinate of the axis");
  ends_at([] { align::part_of({{4}, {{4}}, {}}, Tensor{}, 0); },
          "core/align/box_map.cpp:", "the whole of the map");
  const auto whole_of_two = [](Tensor second) {
    Tensor first;
    first.shape = {2};
    const std::array<const Tensor*, 2> parts = {&first, &second};
    align::whole_of({{4}, {{2}, {2}}, {}}, parts);
  };
  Tensor other;
  ends_at([&] { whole_of_two(other); }, "core/align/box_map.cpp:", "the shapes of the map's parts");
  other.shape = {2};
  CHECK(last_words([&] { whole_of_two(other); }).empty());
  other.dtype = DType::i32;
  ends_at([&] { whole_of_two(other); }, "core/align/box_map.cpp:", "parts of one dtype");
  other.dtype = Tensor().dtype;
  other.reduce = Reduce::sum;
  ends_at([&] { whole_of_two(other); }, "core/align/box_map.cpp:", "parts that are no sums");
  const auto rescale = [](align::OpKind kind) {
    align::rescaling_of({kind, {"unknown"}}, Kind::weight, {});
  };
  ends_at([&] { rescale(align::OpKind::same); }, "core/align/rescaling.cpp:", "add or scale");
  ends_at([&] { rescale(align::OpKind::scale); },
          "core/align/rescaling.cpp:", "a number that is known");
  std::array<std::byte, 3> room{};
  ends_at([&] { gather({}, DType::f32, {1}, 0, 1, room); },
          "core/model/gather.cpp:", "room for exactly these elements");
  std::int64_t none = 0;
  ends_at([&] { none = ceil_div(1, none); }, "core/base/checked.hpp:", "a >= 0, b > 0");
}

}  // namespace
}  // namespace ttcheck
