// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where libraries are found that are opened when a file needs them.

namespace ttcheck {

/// Starts the program again without the parts of LD_LIBRARY_PATH that are relative, if it has any:
/// an empty one, which a trailing colon makes, is the current folder, and this is a tool that one
/// runs inside folders of others. The dynamic loader reads the path once, as a program starts. To
/// be called before anything else that main does; where the system does not start it, it goes on.
void leave_relative_libraries(char** argv);

}  // namespace ttcheck
