// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdlib>
#include <string>

#include "core/base/error.hpp"
#include "core/compare/compare.hpp"
#include "core/compare/kernel.hpp"

namespace ttcheck::compare {
namespace {

struct Choice {
  const Kernels* kernels;
  bool (*usable)();
};

/// The best first. The scalar kernels run everywhere.
constexpr std::array kChoices = {
#ifdef __x86_64__
    Choice{&kAvx512Kernels,
           [] {
             return __builtin_cpu_supports("avx512f") != 0 &&
                    __builtin_cpu_supports("avx512bw") != 0 &&
                    __builtin_cpu_supports("avx512dq") != 0 &&
                    __builtin_cpu_supports("avx512vl") != 0;
           }},
    Choice{
        &kAvx2Kernels,
        [] { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }},
#endif
    Choice{&kScalarKernels, [] { return true; }},
};

const Kernels& choose() {
  const char* wanted = std::getenv("TTCHECK_ISA");
  const std::string_view word = wanted == nullptr ? "" : wanted;
  for (const Choice& choice : kChoices) {
    if ((word.empty() || word == choice.kernels->name) && choice.usable()) return *choice.kernels;
  }
  throw Error("TTCHECK_ISA: \"" + std::string(word) +
              "\" is not scalar, avx2 or avx512, or this processor lacks it");
}

}  // namespace

std::vector<const Kernels*> usable_kernels() {
  std::vector<const Kernels*> found;
  for (const Choice& choice : kChoices) {
    if (choice.usable()) found.push_back(choice.kernels);
  }
  return found;
}

const Kernels& kernels() {
  static const Kernels& kChosen = choose();
  return kChosen;
}

std::string_view isa() { return kernels().name; }

}  // namespace ttcheck::compare
