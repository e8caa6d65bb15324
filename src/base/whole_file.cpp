// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>

#include "base/clock.h"
#include "base/progress.h"
#include "base/quiet_write.h"

namespace anynpu {

namespace {

// What the names of temporary files end with, before 16 digits. Python writes the same
// (python/anynpu/whole_file.py).
constexpr std::string_view kMark = ".anynpu-tmp-";
constexpr size_t kDigits = 16;
constexpr int kTries = 100;
constexpr size_t kTimeDigits = 14;     // of the folder of a run
constexpr size_t kMostFolders = 4096;  // remembered as clean
constexpr size_t kMegabyte = 1'000'000;
constexpr size_t kPiece = 16 * kMegabyte;  // between two steps of progress

std::string random_digits() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
    number = now_ns() * 0x9e3779b97f4a7c15u ^ static_cast<uint64_t>(getpid());
  return format("{:016x}", number);
}

bool is_temporary(std::string_view name) {
  if (name.size() < kMark.size() + kDigits) return false;
  const std::string_view digits = name.substr(name.size() - kDigits);
  return name.substr(name.size() - kDigits - kMark.size()).starts_with(kMark) &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status cannot(const char* what, const std::string& path) {
  return fail(Code::io_error, "cannot {} '{}': {}; check the folder and its free space", what, path,
              std::strerror(errno));
}

// The temporary file of one write; removed at the end unless it replaced the target.
class Temporary {
 public:
  Temporary() = default;
  ~Temporary() {
    if (fd_ >= 0) ::close(fd_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  Status create(const std::string& path) {
    for (int i = 0; i < kTries; ++i) {
      const std::string name = path + std::string(kMark) + random_digits();
      const int fd =
          ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
      if (fd < 0 && errno == EEXIST) continue;
      if (fd < 0) {
        return fail(Code::io_error,
                    "cannot create a file beside '{}': {}; the folder must exist and be writable",
                    path, std::strerror(errno));
      }
      // Somebody who removes leftovers may have come between: then the file is theirs.
      struct stat info {};
      const bool taken = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      if (!taken && ::fstat(fd, &info) == 0 && info.st_nlink > 0) {
        fd_ = fd;
        name_ = name;
        return {};
      }
      ::close(fd);
      ::unlink(name.c_str());
    }
    return fail(Code::io_error, "no name for a temporary file beside '{}' is free", path);
  }

  Status write(std::span<const std::byte> data) {
    while (!data.empty()) {
      const ssize_t written = ::write(fd_, data.data(), data.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        return cannot("write", name_);
      }
      data = data.subspan(static_cast<size_t>(written));
    }
    return {};
  }

  Status sync() { return ::fsync(fd_) == 0 ? Status{} : cannot("write to the disk", name_); }

  Status become(const std::string& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) return cannot("replace", path);
    name_.clear();
    return {};
  }

 private:
  int fd_ = -1;
  std::string name_;
};

// The name, too: without it a crash of the machine may bring the old file back. Not every file
// system can; that is no failure of the write.
void sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

Status check_target(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return {};
  return fail(Code::io_error, "'{}' is not a regular file; name a file that may be replaced", path);
}

bool is_first_write_into(const std::string& folder) {
  static std::mutex mutex;
  static auto* known = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return known->size() < kMostFolders && known->insert(folder).second;
}

// A leftover is a file of ours that is not locked.
bool remove_if_left(int folder, const char* name) {
  const int fd = ::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info {};
  const bool left = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                    info.st_uid == ::geteuid() && ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  const bool removed = left && ::unlinkat(folder, name, 0) == 0;
  ::close(fd);
  return removed;
}

}  // namespace

size_t remove_leftovers(const std::string& folder) {
  DIR* entries = ::opendir(folder.c_str());
  if (!entries) return 0;
  size_t removed = 0;
  while (const dirent* entry = ::readdir(entries)) {
    if (is_temporary(entry->d_name)) removed += remove_if_left(::dirfd(entries), entry->d_name);
  }
  ::closedir(entries);
  return removed;
}

size_t remove_leftovers_of_runs(const std::string& folder) {
  namespace fs = std::filesystem;
  if (!is_first_write_into(folder + "/*")) return 0;
  size_t removed = 0;
  std::error_code error;
  for (fs::directory_iterator run(folder, error), end; !error && run != end; run.increment(error)) {
    const std::string name = run->path().filename();
    if (name.size() != kTimeDigits || name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    std::error_code inner;
    for (fs::recursive_directory_iterator at(run->path(), inner), none; !inner && at != none;
         at.increment(inner)) {
      std::error_code unknown;
      if (!at->is_symlink(unknown) && at->is_directory(unknown))
        removed += remove_leftovers(at->path());
    }
  }
  return removed;
}

Status write_file_atomically(const std::string& path,
                             std::span<const std::span<const std::byte>> parts,
                             Durability durability) {
  ANYNPU_TRY(check_target(path));
  const std::string folder = folder_of(path);
  if (is_first_write_into(folder)) remove_leftovers(folder);
  const QuietWrite quiet;
  Temporary temporary;
  ANYNPU_TRY(temporary.create(path));
  uint64_t size = 0;
  for (const auto& part : parts) size += part.size();
  Progress progress("writing", size / kMegabyte, "MB");
  uint64_t written = 0;
  for (auto part : parts) {
    while (!part.empty()) {
      const auto piece = part.first(std::min(part.size(), kPiece));
      ANYNPU_TRY(temporary.write(piece));
      written += piece.size();
      progress.step(written / kMegabyte - progress.done());
      part = part.subspan(piece.size());
    }
  }
  if (durability == Durability::synced) ANYNPU_TRY(temporary.sync());
  ANYNPU_TRY(temporary.become(path));
  if (durability == Durability::synced) sync_folder(folder);
  return {};
}

}  // namespace anynpu
