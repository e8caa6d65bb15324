// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/disk_cache.h"

#include <filesystem>

#include "base/content_hash.h"
#include "base/env.h"
#include "base/format.h"
#include "base/mapped_file.h"
#include "base/whole_file.h"

namespace anynpu::device::cuda {

namespace {

std::string file_of(const std::string& key) {
  const std::string folder = env::cache_path();
  if (folder.empty()) return {};
  return format("{}/cuda/{}", folder, content_hash(std::as_bytes(std::span(key))));
}

}  // namespace

std::optional<std::vector<char>> read_cached(const std::string& key) {
  const std::string path = file_of(key);
  if (path.empty()) return std::nullopt;
  const auto file = MappedFile::open_own(path);
  if (!file.ok()) return std::nullopt;
  const auto bytes = (*file)->bytes();
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  return std::vector<char>(begin, begin + bytes.size());
}

void write_cached(const std::string& key, std::span<const char> bytes) {
  const std::string path = file_of(key);
  if (path.empty()) return;
  std::error_code none;
  const auto folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, none);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, none);
  const std::span<const std::byte> parts[] = {std::as_bytes(bytes)};
  (void)write_file_atomically(path, parts, Durability::unsynced);
}

}  // namespace anynpu::device::cuda
