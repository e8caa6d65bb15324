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
  // A file that this user alone can have written: his own, no link, no right to write for others.
  // For what is executed or believed without a further look.
  static Result<std::shared_ptr<const MappedFile>> open_own(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  static Result<std::shared_ptr<const MappedFile>> open_with(const std::string& path, int flags,
                                                             bool own);
  MappedFile(std::string path, const std::byte* data, size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}
  std::string path_;
  const std::byte* data_;
  size_t size_;
};

}  // namespace anynpu
