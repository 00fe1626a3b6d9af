#include "cli/diff.hpp"

#include "formats/formats.hpp"

namespace ttcheck::cli {

Verdict diff(const Options& options) { throw Error("cannot open", {.file = options.words[0]}); }

}  // namespace ttcheck::cli
