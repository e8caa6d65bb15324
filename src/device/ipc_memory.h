// SPDX-License-Identifier: Apache-2.0
// Device memory shared between processes by key. An export turns the pages of an allocation into
// shared memory in place: the address stays, and other processes map the same pages. Work that
// writes the memory must be finished before it is exported. The memory lives as long as a process
// uses it; the key ends with close_export, or when the exporter frees the memory. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/shared_file.h"
#include "device/device.h"

namespace anynpu::device {

// The key of the allocation that starts at `address`; the same key while it stays exported.
Result<std::string> export_memory(void* address, size_t bytes, SharedFile::Admit admit);
// Lets processes import the key; only for keys of this process.
Status let_in_by_key(std::string_view key, std::span<const int32_t> pids);
// The memory behind a key, as memory of `device`. Once per process and key.
Result<void*> import_memory(std::string_view key, Device& device);
// Ends an import of this process, else an export.
Status close_memory_key(std::string_view key);

}  // namespace anynpu::device
