// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one stretch of a tensor adds to its profile, and the values that it is made from.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/profile.hpp"

namespace ttcheck::compare {

inline constexpr int kProfileBlock = 4096;         ///< elements decoded at a time
inline constexpr std::uint8_t kProfileAbsent = 3;  ///< of ProfiledValues::taken

/// Elements of both sides (of one: a alone), decoded. For complex numbers a and b are moduli.
struct ProfiledValues {
  int count = 0;
  std::array<double, kProfileBlock> a, b, d;                   ///< 0 where `taken` says so
  std::array<std::array<double, 2 * kProfileBlock>, 2> parts;  ///< as decoded; of complex: pairs
  std::array<std::uint8_t, kProfileBlock> taken;  ///< 0; a side not finite: 1; they disagree: 2;
                                                  ///< no part of the tensor: 3
};

/// Decodes `count` elements of stored bytes; `b` is empty for one tensor.
void decode_values(DType a_dtype, std::span<const std::byte> a, DType b_dtype,
                   std::span<const std::byte> b, int count, ProfiledValues& values);

/// What stays the same over a tensor.
struct ProfileFrame {
  Shape shape;
  bool pair = false, complex_a = false, complex_b = false;
  double unit = 1;      ///< of the histogram
  std::size_t top = 0;  ///< elements to be listed
  Profile empty;        ///< axes and blocks with their bins, all zero
};

class ProfilePart {
 public:
  ProfilePart(const ProfileFrame& frame, std::int64_t begin);

  /// The next elements, in order.
  void add(const ProfiledValues& values);

  /// Another part, whose elements follow.
  void append(const ProfilePart& next);

  Profile take() { return std::move(profile_); }

 private:
  void add_run(const ProfiledValues& values, int from, int to);
  Sums sums_of(const ProfiledValues& values, int from, int to) const;
  void add_histogram(const ProfiledValues& values);
  void add_sides(const ProfiledValues& values);
  void add_elements(const ProfiledValues& values);
  void advance(std::int64_t by);
  void keep(const ProfiledElement& element);

  const ProfileFrame& frame_;
  std::int64_t at_ = 0;  ///< linear index of the next element
  Extents index_;        ///< the same; of a scalar {0}
  Shape shape_;          ///< of a scalar {1}
  Profile profile_;
};

}  // namespace ttcheck::compare
