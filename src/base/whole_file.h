// SPDX-License-Identifier: Apache-2.0
// Atomic file writes. The bytes go to a temporary file beside the target, which only this process
// can have created (a random name, O_EXCL, O_NOFOLLOW, locked) and which is then renamed. Readers
// see the old file or the complete new one. The mode is that of any new file: 0666 without the bits
// of the umask. Only regular files are replaced.
//
// A process that is killed leaves its temporary file, unlocked. The first write of another process
// into the same folder removes it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace anynpu {

// synced: the bytes are on disk before the rename, so that a crash of the machine leaves no empty
// file. unsynced: no wait; for files that can be made again.
enum class Durability { synced, unsynced };

// `parts` one after the other. A failure leaves the target as it was.
Status write_file_atomically(const std::string& path,
                             std::span<const std::span<const std::byte>> parts,
                             Durability durability = Durability::synced);

// Removes the temporary files that dead processes of this user left in `folder`, not those of
// running ones. Returns the number of files removed.
size_t remove_leftovers(const std::string& folder);

// The same in all that lies below the folders of earlier runs: those in `folder` whose names are a
// time of 14 digits. Once in the life of the process.
size_t remove_leftovers_of_runs(const std::string& folder);

}  // namespace anynpu
