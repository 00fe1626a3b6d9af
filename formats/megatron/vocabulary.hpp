// SPDX-License-Identifier: Apache-2.0
#pragma once
// The row at which a vocabulary of Megatron ends and its padding begins: what the arguments say of
// it, held against the rows that are stored (_vocab_size_with_padding in
// megatron/training/tokenizer/tokenizer.py).

#include <cstdint>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/megatron/args.hpp"

namespace ttcheck::formats {

/// `rows`: of the embedding, on all ranks together; 0: not known. Rows that are padding become a
/// fact of `args`. Where the number of words does not pad to as many rows, TT303 says so and
/// `args.vocab` becomes 0, so that no row is taken for padding.
void settle_vocabulary(MegatronArgs& args, std::int64_t rows, std::vector<Finding>& findings);

}  // namespace ttcheck::formats
