#include <algorithm>
#include <iterator>

#include "cli/explain.hpp"

namespace ttcheck::cli {
namespace {

constexpr Explanation kTexts[] = {
    {Code::diverged,
     "The error of a tensor is beyond its limit, and no hypothesis explains it better.",
     "Different mathematics, not different rounding: another operation, another order of heads or "
     "experts, a missing or doubled reduction, other inputs.",
     "pytorch/torchtitan#1702: under tensor parallel the loss was off although every test passed; "
     "comparing weights showed that only the embedding and the output layer differed.",
     "Look at the first tensor only: what comes after it inherits its error. Compare the ratio of "
     "error and limit; rounding stays near 1, faults are far above.",
     "Find what differs between the two runs in the operation that makes the first tensor."},
};

}  // namespace

const Explanation* explanation_of(Code code) {
  const auto* row = std::ranges::find(kTexts, code, &Explanation::code);
  return row == std::end(kTexts) ? nullptr : row;
}

}  // namespace ttcheck::cli
