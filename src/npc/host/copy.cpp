// SPDX-License-Identifier: Apache-2.0
#include "npc/host/copy.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/align.h"
#include "base/clock.h"
#include "base/thread_pool.h"
#include "device/host_view.h"
#include "device/memory.h"
#include "npc/host/recorder.h"
#include "trace/trace.h"

namespace anynpu::npc {

namespace {

using device::Engine;
using device::TaskKind;

constinit TaskKind kHostToDevice{"hpe_copy_h2d", Engine::h2d};
constinit TaskKind kDeviceToHost{"hpe_copy_d2h", Engine::d2h};
constinit TaskKind kInside{"hpe_copy", Engine::d2d};

TaskKind& kind_of(const CopyRequest& request) {
  if (request.to.host && !request.from.host) return kHostToDevice;
  if (request.from.host && !request.to.host) return kDeviceToHost;
  return kInside;
}

// Large copies are shared with the helpers of the pool; still larger ones go past the caches, which
// could not keep them.
constexpr size_t kLargeBytes = 4 << 20;
constexpr size_t kPastCachesBytes = 32 << 20;
constexpr size_t kPieceBytes = 1 << 20;

// memcpy that does not read the lines it is going to write: 3/5 of the time, since two of three
// accesses to memory are left. (The C library's does so only above 3/4 of the cache of the whole
// processor, which on a part of a large machine is never.)
void copy_past_caches(std::byte* to, const std::byte* from, size_t bytes) {
#if defined(__SSE2__)
  constexpr size_t kLine = 64;
  const size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(to) % kLine);
  std::memcpy(to, from, head);
  size_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    __m128i line[4];
    std::memcpy(line, from + at, kLine);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to + at) + i, line[i]);
  }
  _mm_sfence();  // the others see it before they are told
  std::memcpy(to + at, from + at, bytes - at);
#else
  std::memcpy(to, from, bytes);
#endif
}

void move_pieces(std::byte* to, const std::byte* from, size_t bytes) {
  const bool apart = to + bytes <= from || from + bytes <= to;
  if (bytes < kLargeBytes || !apart) {
    std::memmove(to, from, bytes);
    return;
  }
  const size_t pieces = ceil_div(bytes, kPieceBytes);
  ThreadPool::instance().parallel_for(pieces, 1, [&](size_t begin, size_t end) {
    const size_t first = begin * kPieceBytes;
    const size_t count = std::min(bytes, end * kPieceBytes) - first;
    if (bytes < kPastCachesBytes) {
      std::memcpy(to + first, from + first, count);
    } else {
      copy_past_caches(to + first, from + first, count);
    }
  });
}

// Either side may be memory of a device that the host cannot read.
Status move_visible(std::byte* to, std::byte* from, size_t bytes) {
  device::HostRange views[] = {{to, bytes, device::Access::write},
                               {from, bytes, device::Access::read}};
  return device::with_host_view(views, [&] {
    move_pieces(static_cast<std::byte*>(views[0].address),
                static_cast<const std::byte*>(views[1].address), bytes);
    return Status();
  });
}

// The copy itself.
Status move_bytes(const CopyRequest& request, std::byte* to, std::byte* from) {
  Recorder* record = recorder();
  const uint64_t start = record ? now_ns() : 0;
  ANYNPU_TRY(move_visible(to, from, request.bytes));
  if (!record) return {};
  const TaskKind& kind = kind_of(request);
  const ClusterHost* host = request.to.host ? request.to.host : request.from.host;
  record->add_copy(&kind == &kHostToDevice   ? "h2d"
                   : &kind == &kDeviceToHost ? "d2h"
                                             : "d2d",
                   host ? host->cluster().id() : -1, request.bytes, start, now_ns());
  return {};
}

class ReleaseOnce {
 public:
  explicit ReleaseOnce(CopyRelease release) : release_(release) {}
  ReleaseOnce(ReleaseOnce&& other) noexcept : release_(std::exchange(other.release_, {})) {}
  ReleaseOnce& operator=(ReleaseOnce&&) = delete;
  ~ReleaseOnce() {
    if (release_.call) release_.call(release_.data);
  }

 private:
  CopyRelease release_;
};

struct Side {
  std::byte* address = nullptr;
  std::shared_ptr<void> keep;
};

Result<Side> device_side(const CopyEnd& place, size_t bytes, const char* what) {
  const auto address = reinterpret_cast<uintptr_t>(place.address);
  const Cluster& cluster = place.host->cluster();
  if (address > UINT32_MAX) {
    return fail(
        Code::invalid_address,
        "{} is {:#x}, which is no address of a cluster: those have 32 bits; was host memory "
        "passed, or does the kind of the copy not fit?",
        what, address);
  }
  const auto start = static_cast<uint32_t>(address);
  auto block = cluster.find(start, bytes);
  if (block.ok()) return Side{(*block)->host(start), *block};
  ANYNPU_ASSIGN(auto shorter, cluster.find(start), "while checking {}", what);
  return fail(Code::invalid_argument,
              "{} has {} bytes behind address {:#x} of cluster {}, the copy wants {}; copy less or "
              "allocate more",
              what, shorter->base() + shorter->bytes() - start, start, cluster.id(), bytes);
}

Result<Side> side(const CopyEnd& place, size_t bytes, device::Access access, const char* what) {
  if (place.host) return device_side(place, bytes, what);
  auto range = device::check_range(place.address, bytes, access, what);
  // A host address that is not there is a bad value: HPE's pointer code speaks of device memory.
  if (!range.ok()) return Status(Code::invalid_argument, range.status().to_string());
  return Side{reinterpret_cast<std::byte*>(range->address), range->owner};
}

}  // namespace

Status check_copy(const CopyRequest& request) {
  ANYNPU_TRY(side(request.to, request.bytes, device::Access::write, "dst").status());
  return side(request.from, request.bytes, device::Access::read, "src").status();
}

Status copy_async(const CopyRequest& request, const std::shared_ptr<Lane>& lane,
                  CopyRelease release) {
  ReleaseOnce owner(release);
  if (request.bytes == 0) return {};
  ANYNPU_ASSIGN(auto to, side(request.to, request.bytes, device::Access::write, "dst"));
  ANYNPU_ASSIGN(auto from, side(request.from, request.bytes, device::Access::read, "src"));
  return lane->stream().submit(
      device::TaskInfo(kind_of(request), request.bytes),
      [lane, to = std::move(to), from = std::move(from), request, owner = std::move(owner)] {
        return move_bytes(request, to.address, from.address);
      });
}

Status copy(const CopyRequest& request, const std::shared_ptr<Lane>& lane) {
  if (lane->stream().idle() && request.bytes > 0) {  // nothing to wait for: no hand-off either
    ANYNPU_ASSIGN(const auto to, side(request.to, request.bytes, device::Access::write, "dst"));
    ANYNPU_ASSIGN(const auto from, side(request.from, request.bytes, device::Access::read, "src"));
    const trace::TraceZone zone(trace::Category::task, kind_of(request).name,
                                trace::current_correlation(), request.bytes);
    return move_bytes(request, to.address, from.address);
  }
  ANYNPU_TRY(copy_async(request, lane));
  return lane->stream().wait_for(lane->stream().submitted(), Deadline::never());
}

}  // namespace anynpu::npc
