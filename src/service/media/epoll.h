// SPDX-License-Identifier: Apache-2.0
// epoll for programs that wait for several channels. Waits can be interrupted (base/interrupt.h).
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace anynpu::media {

struct EpollEvent {
  bool readable = false;
  bool writable = false;
  bool edge_triggered = false;
  void* data = nullptr;  // of the program
};
enum class EpollChange : uint8_t { add, modify, remove };

Result<int32_t> create_epoll(int32_t size);
Status change_epoll(int32_t epoll, EpollChange change, int32_t fd, const EpollEvent& event);
// At most `limit` events; none when the time (-1: forever) is over.
Result<std::vector<EpollEvent>> wait_epoll(int32_t epoll, int32_t limit, int32_t milliseconds);
Status close_epoll(int32_t epoll);

}  // namespace anynpu::media
