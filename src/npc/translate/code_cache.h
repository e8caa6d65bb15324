// SPDX-License-Identifier: Apache-2.0
// Cache of host code in the cache folder (base/env.h): one file for each device program and
// processor. A file contains its program, which is compared byte by byte, and a checksum; on a
// mismatch the file is ignored. The code is executed, so folder (mode 0700) and file must belong to
// the user: anything that others could have written is ignored too. The folder keeps the newest 512
// files.
// Failures to write are silent: the next process translates again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace anynpu::npc {

struct Image;

class CodeCache {
 public:
  // `signature`: what the code depends on beside the program.
  CodeCache(const Image& image, const std::string& signature);

  std::optional<std::string> find() const;
  void keep(const std::string& object) const;
  const std::string& path() const { return path_; }

 private:
  const Image& image_;
  std::string key_;
  std::string path_;  // empty: there is no cache folder
};

}  // namespace anynpu::npc
