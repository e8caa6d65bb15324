// SPDX-License-Identifier: Apache-2.0
// Dumps to a callback of the program instead of files: bytes arrive in chunks, in order, in the
// thread that runs the operator. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace anynpu::service {

struct DumpChunk {
  const std::string& path;  // of the file that the dump would be
  size_t offset;
  std::string_view bytes;
  bool last;
};
// Returns 0, or a number that ends the dump with a failure.
using DumpReceiver = std::function<int32_t(const DumpChunk&)>;

// `most_path`: the longest path that the receiver accepts. In force until the next one is set,
// until stop_receiving_dumps, or until the library is finalised.
Status receive_dumps(DumpReceiver receiver, size_t most_path);
Status stop_receiving_dumps();

}  // namespace anynpu::service
