// SPDX-License-Identifier: Apache-2.0
#include "prof/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "base/quiet_write.h"
#include "prof/calendar.h"
#include "trace/names.h"

namespace anynpu::prof {

namespace {

constexpr char kMagic[8] = {'A', 'N', 'Y', 'P', 'R', 'O', 'F', '1'};
// Small: where the disk fills up, what does not fit whole is lost.
constexpr size_t kChunkBytes = size_t{128} << 10;
constexpr size_t kFlushBytes = 2 * kChunkBytes;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t pid;
  uint64_t steady_ns;
  uint64_t calendar_ns;
};

enum ChunkType : uint32_t { kEvents = 1, kNames = 2, kLost = 3, kEnd = 4 };

struct ChunkHeader {
  uint32_t type;
  uint32_t id;  // the thread, for events and losses
  uint32_t bytes;
  uint32_t checksum;
};

}  // namespace

Result<EventFile> EventFile::create(const std::string& path, uint64_t most_bytes) {
  EventFile file;
  file.fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (file.fd_ < 0) {
    return fail(Code::io_error, "'{}' cannot be written: {}; choose a folder that can be", path,
                std::string(strerror(errno)));
  }
  file.path_ = path;
  file.most_bytes_ = most_bytes;
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = 1;
  header.pid = static_cast<uint32_t>(getpid());
  header.steady_ns = now_ns();
  header.calendar_ns = calendar_ns();
  file.append(&header, sizeof header);
  file.write_out();
  if (!file.failure_.ok()) return file.failure_;
  return file;
}

EventFile::EventFile(EventFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      most_bytes_(other.most_bytes_),
      written_(other.written_),
      events_(other.events_),
      lost_(other.lost_),
      names_(other.names_),
      chunk_(other.chunk_),
      buffer_(std::move(other.buffer_)),
      failure_(std::move(other.failure_)) {}

EventFile::~EventFile() {
  if (fd_ >= 0) ::close(fd_);
}

void EventFile::append(const void* data, size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  buffer_.insert(buffer_.end(), from, from + bytes);
}

void EventFile::open_chunk(uint32_t type, uint32_t id) {
  chunk_ = buffer_.size();
  const ChunkHeader header{type, id, 0, 0};
  append(&header, sizeof header);
}

void EventFile::close_chunk() {
  const size_t begin = chunk_ + sizeof(ChunkHeader);
  const std::span payload(buffer_.data() + begin, buffer_.size() - begin);
  ChunkHeader header;
  std::memcpy(&header, buffer_.data() + chunk_, sizeof header);
  header.bytes = static_cast<uint32_t>(payload.size());
  header.checksum = crc32c(payload);
  std::memcpy(buffer_.data() + chunk_, &header, sizeof header);
}

void EventFile::add(const trace::ThreadInfo& thread, std::span<const trace::Event> events,
                    const ClockLine& clock, trace::Mask wanted) {
  const uint64_t name = thread.name;
  bool open = false;
  const auto end_chunk = [&] {
    if (!std::exchange(open, false)) return;
    close_chunk();
    if (buffer_.size() >= kFlushBytes) flush();
  };
  for (trace::Event event : events) {
    if (!(wanted & trace::bit(event.category()))) continue;
    if (!std::exchange(open, true)) {
      open_chunk(kEvents, static_cast<uint32_t>(thread.id));
      append(&name, sizeof name);
    }
    const bool detail = event.phase() == trace::Phase::detail;
    // The wait of a task is time before its start; what other details carry is no time.
    if (detail && event.category() == trace::Category::task)
      event.duration = clock.duration_ns(event.tsc - event.duration, event.duration);
    if (event.phase() == trace::Phase::slice)
      event.duration = clock.duration_ns(event.tsc, event.duration);
    event.tsc = clock.to_ns(event.tsc);
    append(&event, sizeof event);
    ++events_;
    // A detail stays with its event.
    if (!detail && buffer_.size() - chunk_ >= kChunkBytes) end_chunk();
  }
  end_chunk();
}

void EventFile::add_lost(const trace::ThreadInfo& thread, uint64_t count) {
  lost_ += count;
  open_chunk(kLost, static_cast<uint32_t>(thread.id));
  append(&count, sizeof count);
  close_chunk();
}

// Before the events that use them could be read without them: names go out first.
void EventFile::append_names() {
  const size_t count = trace::name_count();
  while (names_ < count) {
    open_chunk(kNames, 0);
    for (size_t bytes = 0; names_ < count && bytes < kFlushBytes; ++names_) {
      const std::string_view text = trace::name_of(static_cast<trace::NameId>(names_));
      const uint32_t head[2] = {static_cast<uint32_t>(names_), static_cast<uint32_t>(text.size())};
      append(head, sizeof head);
      append(text.data(), text.size());
      bytes += text.size() + sizeof head;
    }
    close_chunk();
  }
}

void EventFile::flush() {
  if (buffer_.empty()) return;
  std::vector<std::byte> events;
  events.swap(buffer_);
  append_names();
  append(events.data(), events.size());
  write_out();
}

void EventFile::write_out() {
  if (failure_.ok() && most_bytes_ && written_ + buffer_.size() > most_bytes_) {
    failure_ = fail(Code::limit_exceeded,
                    "'{}' has reached the storage limit of {} bytes; what came later is missing: "
                    "raise storage_limit or profile a shorter time",
                    path_, most_bytes_);
    ANYNPU_LOG(warning, "profiling: {}", failure_.to_string());
  }
  size_t done = 0;
  const QuietWrite quiet;
  while (failure_.ok() && done < buffer_.size()) {
    const ssize_t count = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      failure_ = fail(Code::io_error,
                      "'{}' cannot be written on: {}; the program goes on without a profile: check "
                      "the disk and its free space",
                      path_, std::string(strerror(errno)));
      ANYNPU_LOG(error, "profiling: {}", failure_.to_string());
      if (::ftruncate(fd_, static_cast<off_t>(written_)) == 0) done = 0;  // whole chunks only
      break;
    }
    done += static_cast<size_t>(count);
  }
  written_ += done;
  buffer_.clear();
}

Status EventFile::finish() {
  flush();
  open_chunk(kEnd, 0);
  const uint64_t end[4] = {now_ns(), calendar_ns(), events_, lost_};
  append(end, sizeof end);
  close_chunk();
  write_out();
  if (fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0 && failure_.ok()) {
    failure_ = fail(Code::io_error, "'{}' was not written whole: {}; check the disk", path_,
                    std::string(strerror(errno)));
  }
  if (failure_.ok() && ::access(path_.c_str(), F_OK) != 0) {
    failure_ =
        fail(Code::io_error,
             "'{}' vanished while the profile was collected; keep the folder until the end", path_);
  }
  return failure_;
}

}  // namespace anynpu::prof
