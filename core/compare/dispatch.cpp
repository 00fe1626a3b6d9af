#include <cstdlib>
#include <string>

#include "core/base/error.hpp"
#include "core/compare/compare.hpp"
#include "core/compare/kernel.hpp"

namespace ttcheck::compare {
namespace {

const Kernels& choose() {
  const char* wanted = std::getenv("TTCHECK_ISA");
  const std::string_view word = wanted == nullptr ? "" : wanted;
  if (word.empty() || word == kScalarKernels.name) return kScalarKernels;
  throw Error("TTCHECK_ISA: this processor has no \"" + std::string(word) + '"');
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& kChosen = choose();
  return kChosen;
}

std::string_view isa() { return kernels().name; }

}  // namespace ttcheck::compare
