// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json of the native trace: version, mesh and facts of the run.

#include <string>
#include <vector>

#include "core/model/fact.hpp"
#include "core/model/finding.hpp"
#include "core/model/mesh.hpp"

namespace ttcheck::formats {

struct TraceRun {
  Mesh mesh;
  std::vector<Fact>
      facts;  ///< nested keys dotted; numbers of the model and the optimizer are compared
  std::vector<Finding> findings;  ///< duplicate keys, ranks that do not fit the mesh, limits
};

/// Parses the text of `file`. Throws Error when it is no JSON object, has no or another version, or
/// its world is unusable.
TraceRun parse_trace_run(std::string text, const std::string& file);

}  // namespace ttcheck::formats
