// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all. The bytes go to a temporary file beside the target,
// made by this process alone (a random name, O_EXCL, O_NOFOLLOW, locked); then it takes the
// target's place. Readers see the old file or the whole new one. The mode is that of any new file:
// 0666 without the bits of the umask. Something that is no regular file is never replaced.
//
// A process that is killed leaves its temporary file. The first write of another process into the
// same folder removes it: nobody holds its lock any more.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace anynpu {

// Whether the bytes are on the disk before the name is: a crash of the machine then leaves no empty
// file. Without it a file costs no wait; for what can be made again.
enum class Durability { synced, unsynced };

// `parts` one after the other. A failure leaves the target as it was.
Status write_file_atomically(const std::string& path,
                             std::span<const std::span<const std::byte>> parts,
                             Durability durability = Durability::synced);

// Removes the temporary files that dead processes of this user left in `folder`; those of living
// ones stay. The number of files removed.
size_t remove_leftovers(const std::string& folder);

}  // namespace anynpu
