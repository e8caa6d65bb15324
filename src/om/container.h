// SPDX-License-Identifier: Apache-2.0
// The .om container (docs/om_format.md): written atomically, mapped, verified whole before use.
// Damage of any kind gives corrupt_model, a newer format version_mismatch, each with a sentence;
// weights of a model that was read are views into the mapping, which the graph keeps alive.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "om/model.h"

namespace anynpu::om {

constexpr uint32_t kFormatVersion = 1;

Status write_file(const Model& model, const std::string& path);
Result<std::vector<std::byte>> to_bytes(const Model& model);

Result<Model> read_file(const std::string& path);
// `owner` keeps `bytes` alive; they should start on a 64-byte boundary.
Result<Model> read_memory(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
// As read_memory on an aligned copy: the caller's memory may go afterwards.
Result<Model> read_copy(std::span<const std::byte> bytes);

// Only the description, of a file that passed the same checks.
Result<Meta> read_meta(std::span<const std::byte> bytes);

}  // namespace anynpu::om
