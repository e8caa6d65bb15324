// SPDX-License-Identifier: Apache-2.0
// Pages of a mapped file that were read and will hardly be read again need not stay in memory.
#pragma once

#include <cstddef>
#include <span>

namespace anynpu {

// Lets the whole pages inside `bytes` go, whatever memory it is: what is read again comes back from
// the file. A hint; nothing happens where the system does not take it.
void release_pages(std::span<const std::byte> bytes);

}  // namespace anynpu
