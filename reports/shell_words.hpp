#pragma once
// Words of a command as a shell reads them back: `'a b'`, `$'\xff'`.

#include <string>
#include <vector>

namespace ttcheck::reports {

/// Printable ASCII on one line, whatever the words hold; empty when a word is too long to paste.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace ttcheck::reports
