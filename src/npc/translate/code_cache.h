// SPDX-License-Identifier: Apache-2.0
// Host code kept in the cache folder (base/env.h) between processes: one file for each device
// program and processor. A file holds the program it belongs to, which is compared whole, and a
// checksum; anything that does not fit is as good as missing. The code is run, so the folder is the
// user's own with mode 0700 and the file his own: what others could have written is as good as
// missing too. The folder keeps the newest 512.
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
  std::string path_;  // empty: there is no folder for caches
};

}  // namespace anynpu::npc
