#include "cli/show.hpp"

#include "cli/show_one.hpp"
#include "cli/show_pair.hpp"

namespace ttcheck::cli {

Verdict show(const Options& options) {
  return options.words.at(2).empty() ? show_one(options) : show_pair(options);
}

}  // namespace ttcheck::cli
