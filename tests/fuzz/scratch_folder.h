// SPDX-License-Identifier: Apache-2.0
// For the fuzzers: a folder of the process for files that a run writes; gone with the process. In
// memory where the system has such a file system.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace anynpu::fuzz {

class ScratchFolder {
 public:
  ScratchFolder() {
    for (std::string path : {"/dev/shm/fuzz.XXXXXX", "/tmp/fuzz.XXXXXX"}) {
      if (!mkdtemp(path.data())) continue;
      path_ = path;
      return;
    }
    std::perror("no folder for what the fuzzer writes");
    std::abort();
  }
  ~ScratchFolder() {
    clear();
    (void)rmdir(path_.c_str());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  void clear() const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(path_, ignored))
      std::filesystem::remove_all(entry.path(), ignored);
  }

 private:
  std::string path_;
};

}  // namespace anynpu::fuzz
