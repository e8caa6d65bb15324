// SPDX-License-Identifier: Apache-2.0
// What took long to find out about a GPU (compiled kernels, measured choices), kept on disk below
// the cache folder (base/env.h) by a hash of the key. Thread-safe, also between processes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace anynpu::device::cuda {

// Nothing where nothing is kept, or where there is no cache folder.
std::optional<std::vector<char>> read_cached(const std::string& key);
// What cannot be written is found out again by the next process.
void write_cached(const std::string& key, std::span<const char> bytes);

}  // namespace anynpu::device::cuda
