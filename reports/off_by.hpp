// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far a result is off, as who trains models says it: in percent, beside what is explained.

#include <string>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

/// Two digits: "59 %", "0.00024 %", "1,200 %".
std::string in_percent(double share);

/// "it is off by 59 %, 250,000 times what rounding explains (0.00024 %)". Escaped.
std::string off_words(const TensorResult& result);

/// The same for a table: "59 %" or "NaN", and "0.00024 %"; empty where that is no share.
std::string off_cell(const TensorResult& result);
std::string explained_cell(const TensorResult& result);

/// "-0.2336 in the reference, -2.593 in the candidate", with as many digits as tell them apart;
/// empty where they are not known.
std::string values_words(const TensorResult& result);

}  // namespace ttcheck::reports
