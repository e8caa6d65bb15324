// SPDX-License-Identifier: Apache-2.0
#include "service/config/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace anynpu::service {

namespace {

constexpr off_t kMostConfigBytes = 8 << 20;

}  // namespace

Result<std::string> read_config_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return fail(Code::file_not_found, "'{}' cannot be opened: {}; check the path and its rights",
                path, std::string(strerror(errno)));
  }
  struct stat info;
  Result<std::string> text = std::string();
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    text = fail(Code::file_invalid, "'{}' is no regular file; pass the path of a JSON file", path);
  } else if (info.st_size > kMostConfigBytes) {
    text = fail(Code::file_invalid, "'{}' has {} bytes, expected at most {}; pass a JSON file",
                path, info.st_size, kMostConfigBytes);
  } else {
    char buffer[4096];
    ssize_t count;
    // A file may grow, and those of /proc say that they have 0 bytes.
    while ((count = ::read(fd, buffer, sizeof buffer)) > 0) {
      text.value().append(buffer, static_cast<size_t>(count));
      if (text.value().size() > static_cast<size_t>(kMostConfigBytes)) break;
    }
    if (text.value().size() > static_cast<size_t>(kMostConfigBytes)) {
      text = fail(Code::file_invalid, "'{}' has more than {} bytes; pass a JSON file", path,
                  kMostConfigBytes);
    } else if (count < 0) {
      text = fail(Code::io_error, "'{}' cannot be read: {}; check the disk it lies on", path,
                  std::string(strerror(errno)));
    }
  }
  ::close(fd);
  return text;
}

}  // namespace anynpu::service
