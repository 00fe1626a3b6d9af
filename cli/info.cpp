#include "cli/info.hpp"

namespace ttcheck::cli {

Verdict info(const Options& options) { throw Error("cannot open", {.file = options.words[0]}); }

}  // namespace ttcheck::cli
