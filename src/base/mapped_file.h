// SPDX-License-Identifier: Apache-2.0
// A file mapped read-only. Shared: holders of a view keep the mapping alive through the owner.
// Thread-safe once open. Opening anything but a regular file fails with a message.
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
  // A file that only this user can have written: owned by the user, not a link, not writable by
  // others. For content that is executed or trusted without further checks.
  static Result<std::shared_ptr<const MappedFile>> open_own(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // Releases the whole pages inside `bytes`, a part of the file that was read and will hardly be
  // read again. If it is read again, it comes back from the file.
  void release(std::span<const std::byte> bytes) const;

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
