#pragma once
// What a pickle would ask a reader to import and call, as findings. Nothing here is a verdict of
// safety: names are data, code, or unknown.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

enum class GlobalClass : std::uint8_t {
  data,     ///< only builds values: containers, numbers, tensors
  code,     ///< runs or loads code: os.system, eval, pip
  unknown,  ///< a class or function of somebody's
};

/// By the exact pair of module and name; a name with dots in it reaches into a module and is judged
/// by the module alone.
GlobalClass classify(const Global& global);

/// The pickle's fault, its oddities, and what it would call outside of the known set (TT509).
/// `what` names the pickle in messages.
void judge_pickle(const Pickle& pickle, std::string_view what, std::vector<Finding>& findings);

}  // namespace ttcheck::formats
