// SPDX-License-Identifier: Apache-2.0
// Memory for tensors whose size only a run tells. Blocks go back to lists by size when their last
// owner lets go, and are used again: a program in steady use takes none from the system. Neither
// locks. Blocks above 4 MiB are not kept. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>

namespace anynpu::exec {

// At least `bytes`, aligned to 64; null when the system has none. Its owners count in the block
// itself, so that nothing else is allocated.
std::shared_ptr<std::byte> take_block(size_t bytes);

}  // namespace anynpu::exec
