// SPDX-License-Identifier: Apache-2.0
// Memory for tensors whose size is known only at run time. When the last reference is gone, a block
// goes back to a free list by size and is reused: in steady use nothing is taken from the system.
// Lock-free. Blocks above 4 MiB are not kept. Thread-safe.
#pragma once

#include <cstddef>
#include <memory>

namespace anynpu::exec {

// At least `bytes`, aligned to 64; null when memory is out. The reference count is in the block
// itself, so nothing else is allocated.
std::shared_ptr<std::byte> take_block(size_t bytes);

}  // namespace anynpu::exec
