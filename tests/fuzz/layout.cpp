// SPDX-License-Identifier: Apache-2.0
// Any text either is a layout that places and renames names, or an Error.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/error.hpp"
#include "core/model/layout_use.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  try {
    const Layout layout =
        parse_layout(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    LayoutUse use(layout);
    for (const char* path : {"rank_3.pt", "iter_0001/mp_rank_01_002/model_optim_rng.pt"}) {
      match_path(layout, path, nullptr);
    }
    for (const char* name : {"decoder.layers.3.mlp.local_experts.1.linear_fc1.weight", "a", ""}) {
      use.rule_for(use.global_name(name, {{"pp", 1}, {"ep", 1}}), 0, {});
    }
    use.findings();
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
