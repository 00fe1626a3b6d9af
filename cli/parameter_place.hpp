#pragma once
// Records of one parameter, its gradient and what an update left of it, whatever names them.

#include <string>
#include <string_view>

namespace ttcheck::cli {

/// `<module>/<slot>` of a parameter's or its gradient's record: `l.0/param.bias` and
/// `l.0/main_grad.bias` are at `l.0/bias`. The word and the number of the call that recorded it,
/// which some dumps put behind a module (`Module.head.Linear.forward.0`, `.parameters_grad.0`), are
/// left out. Other names are as they were.
std::string parameter_place(std::string_view record);

}  // namespace ttcheck::cli
