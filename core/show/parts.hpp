// SPDX-License-Identifier: Apache-2.0
#pragma once
// What there is to say of one tensor once it is found: where its parts are stored, what lies where
// inside it, and what catches the eye.

#include "core/compare/compare.hpp"
#include "core/model/layout.hpp"
#include "core/model/shown.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::show {

/// Dims and parts of a tensor, without reading its bytes.
Shown parts_to_show(const Tensor& tensor);

/// Reads a tensor, or a pair, once more and tells what lies where; `pair.candidate` null: alone.
/// `metrics`: of the pair. Throws Error, compare::Stopped.
Profile profile_to_show(const compare::Pair& pair, const Metrics& metrics, const Numbers& numbers,
                        int top);

/// Which of `records` alike one is, `at` counted from 0, in words; empty for the only one.
std::string record_words(std::size_t at, std::size_t records, const Identity& identity);

/// "all values are 0", "4 of 64 rows are zero" and the like, of one tensor's profile.
std::vector<std::string> hints_of(const Profile& profile);

}  // namespace ttcheck::show
