// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of the screen, as `ttcheck explain WORD` and ttcheck-diff(1) tell them.

#include <span>
#include <string_view>

namespace ttcheck::reports {

struct ScreenWord {
  std::string_view word, meaning;
};

/// In the order in which a reader meets them.
std::span<const ScreenWord> screen_words();

/// Whatever its case; null for what is none of them.
const ScreenWord* screen_word(std::string_view word);

}  // namespace ttcheck::reports
