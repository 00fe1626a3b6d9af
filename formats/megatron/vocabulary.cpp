// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/vocabulary.hpp"

#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMaxRanks = 256;  ///< that a vocabulary is cut over

std::int64_t padded(std::int64_t words, std::int64_t multiple) {
  return checked_mul(ceil_div(words, multiple), multiple);
}

/// What the writer pads to; 0 where the arguments do not say.
std::int64_t multiple_of(const MegatronArgs& args) {
  return checked_mul(args.vocab_multiple, args.tp);
}

bool pads_to(const MegatronArgs& args, std::int64_t multiple, std::int64_t rows) {
  return padded(args.vocab, multiple) == rows ||
         (args.extra_word && padded(checked_add<std::int64_t>(args.vocab, 1), multiple) == rows);
}

/// A run that goes on from a checkpoint keeps the padding of that one, which may be that of another
/// number of ranks: then a power of two.
bool is_padding(const MegatronArgs& args, std::int64_t rows) {
  const std::int64_t multiple = multiple_of(args);
  if (multiple == 0 || pads_to(args, multiple, rows)) return true;
  if (!args.loaded || rows % args.tp != 0) return false;
  for (std::int64_t ranks = 1; ranks <= kMaxRanks; ranks *= 2) {
    if (pads_to(args, checked_mul(args.vocab_multiple, ranks), rows)) return true;
  }
  return false;
}

}  // namespace

void settle_vocabulary(MegatronArgs& args, std::int64_t rows, std::vector<Finding>& findings) {
  const Where where = args.where.value_or(Where{});
  if (args.vocab == 0) {
    if (!args.where) return;
    findings.push_back(remark(where,
                              "the arguments do not say the size of the vocabulary: its padding "
                              "rows are taken for data",
                              Code::padding));
    return;
  }
  const std::int64_t stored = rows > 0 ? rows : args.padded_vocab;
  if (stored == 0 || stored == args.vocab) return;
  if (args.vocab < stored && is_padding(args, stored)) {
    args.facts.push_back({"parallel.padding_rows",
                          fmt::format("{} to {}, left out", args.vocab, stored - 1), FactUse::note,
                          where});
    return;
  }
  std::string message =
      fmt::format("the arguments say {} words, the embedding has {} rows", args.vocab, stored);
  if (const std::int64_t multiple = multiple_of(args); multiple > 0) {
    message += fmt::format(", where {} are expected (the next multiple of {} x {} ranks)",
                           padded(args.vocab, multiple), args.vocab_multiple, args.tp);
  }
  findings.push_back(found(Code::padding, message + ": no row is taken for padding", where));
  args.vocab = 0;
}

}  // namespace ttcheck::formats
