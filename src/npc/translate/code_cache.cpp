// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/code_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/crc32c.h"
#include "base/env.h"
#include "base/format.h"
#include "base/mapped_file.h"
#include "base/whole_file.h"
#include "npc/image.h"

namespace anynpu::npc {

namespace {

// Raised whenever the translator makes other code of the same program.
constexpr uint32_t kVersion = 11;
constexpr size_t kMostFiles = 512;

struct Header {
  char magic[8] = {'N', 'P', 'C', 'c', 'o', 'd', 'e', '1'};
  uint32_t checksum = 0;  // of all that follows
  uint32_t key_bytes = 0;
  uint64_t program_bytes = 0;
  uint64_t object_bytes = 0;
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

uint64_t hash(std::span<const std::byte> bytes, uint64_t h) {
  for (const std::byte b : bytes) h = (h ^ static_cast<uint64_t>(b)) * 0x100000001b3ull;
  return h ^ (h >> 29);
}

// Code that others could have written is not run: the folder is this user's own and nobody else
// may look into it.
bool is_private(const std::filesystem::path& folder) {
  struct stat info {};
  return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

bool make_private(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (error) return false;
  if (::mkdir(folder.c_str(), S_IRWXU) == 0 || is_private(folder)) return true;
  // Made by an earlier release, for all to read: what is in it was this user's to write.
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return false;
  return ::chmod(folder.c_str(), S_IRWXU) == 0;
}

// Programs come and go: of more than kMostFiles the ones that were written first are removed.
void prune(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    files.emplace_back(entry.last_write_time(error), entry.path());
  }
  if (files.size() <= kMostFiles) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - kMostFiles);
  for (const auto& [time, path] : files) std::filesystem::remove(path, error);
}

}  // namespace

CodeCache::CodeCache(const Image& image, const std::string& signature) : image_(image) {
  key_ = format("{} {}", kVersion, signature);
  if (image.fixed_place) key_ += format(" at {:#x}", image.base);
  const std::string folder = env::cache_path();
  if (folder.empty()) return;
  path_ = format("{}/npc/{:016x}.npc", folder,
                 hash(bytes_of(key_), hash(image.object, 0xcbf29ce484222325ull)));
}

std::optional<std::string> CodeCache::find() const {
  if (path_.empty()) return std::nullopt;
  if (!is_private(std::filesystem::path(path_).parent_path())) return std::nullopt;
  const auto file = MappedFile::open_own(path_);
  if (!file.ok()) return std::nullopt;
  const auto bytes = (*file)->bytes();
  Header header, expected;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const uint64_t rest = bytes.size() - sizeof header;
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.key_bytes != key_.size() || header.program_bytes != image_.object.size() ||
      header.key_bytes + header.program_bytes > rest ||
      header.object_bytes != rest - header.key_bytes - header.program_bytes) {
    return std::nullopt;
  }
  const std::byte* key = bytes.data() + sizeof header;
  const std::byte* program = key + header.key_bytes;
  if (std::memcmp(key, key_.data(), key_.size()) != 0 ||
      std::memcmp(program, image_.object.data(), image_.object.size()) != 0 ||
      crc32c(bytes.subspan(sizeof header)) != header.checksum) {
    return std::nullopt;
  }
  return std::string(reinterpret_cast<const char*>(program + header.program_bytes),
                     header.object_bytes);
}

void CodeCache::keep(const std::string& object) const {
  if (path_.empty()) return;
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (!make_private(folder)) return;
  Header header;
  header.key_bytes = static_cast<uint32_t>(key_.size());
  header.program_bytes = image_.object.size();
  header.object_bytes = object.size();
  header.checksum = crc32c(bytes_of(object), crc32c(image_.object, crc32c(bytes_of(key_))));
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(&header, 1)), bytes_of(key_),
                                              image_.object, bytes_of(object)};
  // Its checksum finds what a crash of the machine leaves of it.
  (void)write_file_atomically(path_, parts, Durability::unsynced);
  prune(folder);
}

}  // namespace anynpu::npc
