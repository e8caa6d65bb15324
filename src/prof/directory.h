// SPDX-License-Identifier: Apache-2.0
// A PROF_* directory: created with its parts for the host and each device when a session starts,
// completed when it ends. Names and keys are those of msprof; data that our runtime does not have
// is left out. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace anynpu::prof {

struct DirectoryFacts {
  std::string parent;            // made when it is not there
  uint32_t index = 1;            // the n-th start of this process
  std::vector<int32_t> devices;  // that are profiled
  json::Value sample;            // the switches, for sample.json
  std::string app;               // what runs
};

class Directory {
 public:
  static Result<Directory> create(const DirectoryFacts& facts);
  // Removes the directory and its contents, if a session could not be started.
  void remove();
  const std::string& path() const { return path_; }
  std::string host_data() const { return path_ + "/host/data"; }
  // Adds the part of a device that was not known at the start, if it does not exist.
  Status add_device(int32_t id);
  // Writes what is known of the device besides its times.
  Status describe_device(int32_t id, const std::string& text);
  // Writes end_info everywhere.
  Status finish();

 private:
  Status fill(const DirectoryFacts& facts);
  Status fill_device(int32_t id) const;
  std::string path_;
  std::string info_, sample_;
  std::vector<int32_t> devices_;
  uint64_t begin_calendar_ns_ = 0;
  uint64_t begin_raw_ns_ = 0;
};

// Creates a folder and its parents. Fails with io_error, naming the one that cannot be created.
Status make_folders(const std::string& path);
// The same for the folder that gets PROF_* directories, which must be writable.
Status make_output_folder(const std::string& path);
// Writes a small file atomically.
Status write_text(const std::string& path, const std::string& text);

}  // namespace anynpu::prof
