// SPDX-License-Identifier: Apache-2.0
// The .om container (docs/om_format.md): written atomically, mapped, verified whole before use.
// Damage of any kind gives corrupt_model, a newer format version_mismatch, each with a message.
// The weights of a model are views into the mapping, which the graph keeps alive.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "om/model.h"

namespace anynpu::om {

constexpr uint32_t kFormatVersion = 1;

// Where the weights go: into the .om, or into the folder `weight` beside it.
enum class WeightPlace { inside, file_each, one_file };

// Bytes, and what keeps them alive.
struct OwnedBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};
// Finds a weight file by its name.
using WeightSource = std::function<Result<OwnedBytes>(const std::string& name)>;
WeightSource weights_in(const std::string& folder);
// The folder of the weight files of a model: `weight` beside it.
std::string weight_folder(const std::string& model_path);

// Weight files are written first, so that a .om never lacks its weights.
Status write_file(const Model& model, const std::string& path,
                  WeightPlace place = WeightPlace::inside);
Result<std::vector<std::byte>> to_bytes(const Model& model);

// Weight files are looked up in weight_folder(path) unless `weights` says otherwise.
Result<Model> read_file(const std::string& path, const WeightSource& weights = {});
// `owner` keeps `bytes` alive; they should start on a 64-byte boundary. A model with weight files
// needs `weights`.
Result<Model> read_memory(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                          const WeightSource& weights = {});
// read_memory on an aligned copy: the caller's memory may be freed afterwards.
Result<Model> read_copy(std::span<const std::byte> bytes, const WeightSource& weights = {});

// Only the description, of a file that passed the same checks.
Result<Meta> read_meta(std::span<const std::byte> bytes);

}  // namespace anynpu::om
