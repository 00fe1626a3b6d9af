// SPDX-License-Identifier: Apache-2.0
#include "core/explain/byte_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/explain/values.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::explain {
namespace {

constexpr double kPenalty = 1.1;
constexpr std::int64_t kLeast = 4;    ///< numbers that are turned and right
constexpr std::int64_t kMostNan = 8;  ///< one of so many numbers may have become NaN

std::uint64_t turned(std::uint64_t code, int bits) {
  return __builtin_bswap64(code) >> (64 - bits);
}

/// What of one element the other order says.
enum class Found : std::uint8_t { right, lost, wrong };

Found look(DType dtype, double reference, double candidate) {
  if (reference == 0 && candidate == 0) return Found::right;  // of either sign
  if (std::isnan(candidate)) return Found::lost;
  const double value = value_of(dtype, turned(code_of(dtype, candidate), bits(dtype)));
  const bool right = value == reference || (std::isnan(value) && std::isnan(reference));
  return right ? Found::right : Found::wrong;
}

}  // namespace

std::optional<Explanation> byte_order(const Subject& subject, const Survey& seen) {
  const DType dtype = subject.pair.candidate->dtype;
  const bool wide_integer = is_exact(dtype) && bits(dtype) > 32;
  if (dtype != subject.pair.reference->dtype || bits(dtype) < 16 || wide_integer) return {};
  const bool wrong = std::ranges::any_of(seen.elements, [&](const WrongElement& one) {
    return look(dtype, one.reference, one.candidate) == Found::wrong;
  });
  if (wrong || seen.elements.empty()) return {};  // as nearly always
  const std::int64_t count = subject.metrics().count;
  std::int64_t right = 0, lost = 0;
  bool holds = true;
  visit_pair(subject.pair, count,
             [&](std::int64_t, std::span<const double> a, std::span<const double> b) {
               for (std::size_t i = 0; holds && i < a.size(); ++i) {
                 const Found found = look(dtype, a[i], b[i]);
                 lost += found == Found::lost ? 1 : 0;
                 right += found == Found::right && a[i] != b[i] ? 1 : 0;
                 holds = found != Found::wrong && lost * kMostNan <= count;
               }
             });
  if (!holds || right < kLeast) return {};
  Explanation found;
  found.code = Code::byte_order;
  found.hypothesis = {"byte-order", {}};
  found.penalty = kPenalty;
  found.words = fmt::format(
      "the candidate's {} are the reference's with their bytes in the other "
      "order",
      name(dtype));
  return found;
}

}  // namespace ttcheck::explain
