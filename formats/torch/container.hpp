// SPDX-License-Identifier: Apache-2.0
#pragma once
// The containers that torch and pickle write.

#include <cstdint>

namespace ttcheck::formats {

enum class TorchContainer : std::uint8_t {
  zip,     ///< torch.save since 1.6
  script,  ///< torch.jit.save: an archive that also holds code
  legacy,  ///< torch.save before 1.6: five pickles, then storages
  pickle,  ///< a pickle alone
};

}  // namespace ttcheck::formats
