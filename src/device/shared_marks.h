// SPDX-License-Identifier: Apache-2.0
// The marks of an interprocess event: how many were recorded and which was passed last, in a page
// that all processes map. Recording sends no notification, so waits poll.
// Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/shared_file.h"

namespace anynpu::device {

class SharedMarks {
 public:
  static constexpr size_t kKeyBytes = 64;
  using Key = std::array<char, kKeyBytes>;

  static Result<std::shared_ptr<SharedMarks>> create();
  // Fails when the process that created them is gone.
  static Result<std::shared_ptr<SharedMarks>> open(const Key& key);
  ~SharedMarks();
  SharedMarks(const SharedMarks&) = delete;
  SharedMarks& operator=(const SharedMarks&) = delete;

  // The key with which another process of this user opens them.
  Key key() const { return key_; }

  uint64_t add();         // a new mark, recorded but not passed
  uint64_t last() const;  // 0: none
  void pass(uint64_t mark);
  bool passed(uint64_t mark) const;

 private:
  struct Page;
  SharedMarks(std::shared_ptr<SharedFile> file, Page* page, const Key& key)
      : file_(std::move(file)), page_(page), key_(key) {}
  static Result<std::shared_ptr<SharedMarks>> attach(std::shared_ptr<SharedFile> file,
                                                     const Key& key);

  const std::shared_ptr<SharedFile> file_;
  Page* const page_;
  const Key key_;
};

}  // namespace anynpu::device
