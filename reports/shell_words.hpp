// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words of a command as any POSIX shell reads them back: `'a b'`, `'it'\''s'`.

#include <string>
#include <vector>

namespace ttcheck::reports {

/// One line of what a terminal shows as it is. Empty when a word cannot be said so that each shell
/// reads it back exactly and a reader sees what it is: an empty one, one with characters that the
/// terminal gets escaped, one that is too long to paste.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace ttcheck::reports
