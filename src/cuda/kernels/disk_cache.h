// SPDX-License-Identifier: Apache-2.0
// Disk cache for compiled kernels and autotuning results: files in the cache folder (base/env.h),
// named by a hash of the key. Safe to use from several threads and processes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace anynpu::device::cuda {

// Empty on a miss, and if there is no cache folder.
std::optional<std::vector<char>> read_cached(const std::string& key);
// Ignores write errors: the next process then computes the value again.
void write_cached(const std::string& key, std::span<const char> bytes);

}  // namespace anynpu::device::cuda
