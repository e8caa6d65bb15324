// SPDX-License-Identifier: Apache-2.0
// A file mapped read-only. Shared: whoever holds a view keeps the mapping alive through the owner.
// Thread-safe once open. Opening anything but a regular file fails with a sentence.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace anynpu {

class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  MappedFile(std::string path, const std::byte* data, size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}
  std::string path_;
  const std::byte* data_;
  size_t size_;
};

// Writes `parts` one after the other to `path`: into a temporary file beside it, then a rename, so
// that readers see the old file or the whole new one.
Status write_file_atomically(const std::string& path,
                             std::span<const std::span<const std::byte>> parts);

}  // namespace anynpu
