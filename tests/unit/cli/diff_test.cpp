// SPDX-License-Identifier: Apache-2.0
#include "cli/diff.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "tests/support/npy_text.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::cli {
namespace {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

Verdict diff_of(const std::string& reference, const std::string& candidate) {
  Options options;
  options.words = {reference, candidate};
  return diff(options);
}

/// A file of one f64 matrix, each element times `k`.
std::string doubles(const tests::TempDir& dir, const std::string& name, double k) {
  std::vector<double> values(64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = k * (1 + static_cast<double>(i) / 7);
  return dir.write(
      name, tests::safetensors_of(R"({"w":{"dtype":"F64","shape":[8,8],"data_offsets":[0,512]}})",
                                  bytes_of(values)));
}

TEST_CASE("fp64 values whose squares overflow or vanish are judged all the same") {
  const tests::TempDir dir;
  for (const double size : {1e-300, 1e-170, 1.0, 1e160, 1e300}) {
    INFO(size);
    const std::string a = doubles(dir, "a.safetensors", size);
    const std::string near = doubles(dir, "near.safetensors", size * (1 + 1e-15));
    const std::string twice = doubles(dir, "twice.safetensors", size * 2);
    CHECK(diff_of(a, a).outcome == Outcome::equal);
    CHECK(diff_of(a, near).outcome == Outcome::noise);
    CHECK(diff_of(a, twice).outcome == Outcome::diverged);
  }
}

TEST_CASE("a divergence that was read stands beside a part that could not be read") {
  constexpr std::size_t kCount = 300'000;
  const tests::TempDir dir;
  std::vector<std::uint32_t> values(kCount);
  std::uint32_t state = 1;
  for (std::uint32_t& value : values) value = (state = state * 1664525 + 1013904223) % 1000;
  const std::string header = tests::npy_header("'<u4'", "(300000,)");
  const auto archive = [&](const std::vector<std::uint32_t>& content) {
    tests::ZipWriter zip;
    zip.add("w.npy", tests::npy_of(header, bytes_of(content)), {.deflate = true, .padding = ""});
    return zip;
  };
  tests::ZipWriter good = archive(values);
  values[0] += 1;
  tests::ZipWriter bad = archive(values);
  const std::size_t late = bad.places[0].data + bad.places[0].packed * 9 / 10;
  const std::string a = dir.write("a.npz", good.finish());
  const std::string b =
      dir.write("b.npz", tests::patched(bad.finish(), late, std::string(64, '\xff')));
  const Verdict verdict = diff_of(a, b);
  CHECK(verdict.outcome == Outcome::diverged);
  CHECK_FALSE(verdict.complete);
  CHECK(verdict.coverage.unreadable == 1);
  CHECK(verdict.coverage.paired == 0);
  REQUIRE(verdict.first);
  CHECK(verdict.first->index == Extents{0});
}

}  // namespace
}  // namespace ttcheck::cli
