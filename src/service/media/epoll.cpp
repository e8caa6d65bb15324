// SPDX-License-Identifier: Apache-2.0
#include "service/media/epoll.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/interrupt.h"

namespace anynpu::media {
namespace {

Status epoll_failure(const char* what) {
  return fail(errno == EEXIST ? Code::already_exists : Code::invalid_argument, "{}: {}", what,
              std::strerror(errno));
}

uint32_t kernel_events(const EpollEvent& event) {
  return (event.readable ? uint32_t{EPOLLIN} : 0) | (event.writable ? uint32_t{EPOLLOUT} : 0) |
         (event.edge_triggered ? uint32_t{EPOLLET} : 0);
}

}  // namespace

Result<int32_t> create_epoll(int32_t size) {
  if (size <= 0) return fail(Code::invalid_argument, "the size is {}; expected more than 0", size);
  const int fd = epoll_create1(EPOLL_CLOEXEC);
  if (fd < 0) return epoll_failure("no epoll can be made");
  return fd;
}

Status change_epoll(int32_t epoll, EpollChange change, int32_t fd, const EpollEvent& event) {
  constexpr int operations[] = {EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
  epoll_event request{};
  request.events = kernel_events(event);
  request.data.ptr = event.data;
  const int operation = operations[static_cast<int>(change)];
  return epoll_ctl(epoll, operation, fd, &request) == 0 ? Status() : epoll_failure("epoll");
}

Result<std::vector<EpollEvent>> wait_epoll(int32_t epoll, int32_t limit, int32_t milliseconds) {
  constexpr int kTurnMs = 50;  // between looks at interruptions
  if (limit <= 0 || limit > 4096 || milliseconds < -1)
    return fail(Code::invalid_argument,
                "{} events within {} ms were asked for; expected 1 to 4096 events and -1 (for "
                "ever) or more",
                limit, milliseconds);
  std::vector<epoll_event> found(static_cast<size_t>(limit));
  const Deadline deadline = Deadline::after_ms(milliseconds);
  int count = 0;
  for (;;) {
    count = epoll_wait(epoll, found.data(), limit, milliseconds == 0 ? 0 : kTurnMs);
    if (count < 0 && errno != EINTR) return epoll_failure("epoll");
    count = std::max(count, 0);
    if (count > 0 || milliseconds == 0 || deadline.passed()) break;
    if (interrupted()) return fail(Code::cancelled, "the wait was interrupted");
  }
  std::vector<EpollEvent> events;
  for (int i = 0; i < count; ++i) {
    const uint32_t bits = found[i].events;
    events.push_back({(bits & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0, (bits & EPOLLOUT) != 0, false,
                      found[i].data.ptr});
  }
  return events;
}

Status close_epoll(int32_t epoll) {
  epoll_event probe;
  if (epoll_wait(epoll, &probe, 1, 0) < 0) return epoll_failure("no epoll");
  return ::close(epoll) == 0 ? Status() : epoll_failure("epoll");
}

}  // namespace anynpu::media
