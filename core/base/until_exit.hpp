// SPDX-License-Identifier: Apache-2.0
#pragma once
// The end of large objects.

#include <memory>

namespace ttcheck {

/// Keeps the object as long as the process lives, whose end takes all memory back at once: to free
/// very many tensors one by one takes a fifth of the time that comparing them does. For what is
/// used up when the work is done, not before; one thread at a time.
void keep_until_exit(std::shared_ptr<void> object);

}  // namespace ttcheck
