// SPDX-License-Identifier: Apache-2.0
// The raw data of a session: host/data/anynpu.events. A header, then chunks, each with its length
// and a checksum, so that a file whose writer was killed is readable up to its last whole chunk.
// Times in it are nanoseconds of the steady clock; the header relates them to the wall clock.
// Format: docs/prof_format.md. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "prof/clock_line.h"
#include "trace/registry.h"

namespace anynpu::prof {

class EventFile {
 public:
  static Result<EventFile> create(const std::string& path, uint64_t most_bytes);
  EventFile(EventFile&& other) noexcept;
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;
  ~EventFile();

  // Events of the categories in `wanted`.
  void add(const trace::ThreadInfo& thread, std::span<const trace::Event> events,
           const ClockLine& clock, trace::Mask wanted);
  void add_lost(const trace::ThreadInfo& thread, uint64_t count);
  // Writes what was added.
  void flush();
  // Writes the end and closes. Returns the first failure of any write to the file, with its path.
  Status finish();

  uint64_t events() const { return events_; }
  uint64_t lost() const { return lost_; }

 private:
  EventFile() = default;
  void open_chunk(uint32_t type, uint32_t id);
  void close_chunk();
  void append(const void* data, size_t bytes);
  void append_names();
  void write_out();

  int fd_ = -1;
  std::string path_;
  uint64_t most_bytes_ = 0;
  uint64_t written_ = 0;
  uint64_t events_ = 0;
  uint64_t lost_ = 0;
  size_t names_ = 1;  // written so far; 0 is the empty one
  size_t chunk_ = 0;  // where the open chunk starts in buffer_
  std::vector<std::byte> buffer_;
  Status failure_;
};

}  // namespace anynpu::prof
