// SPDX-License-Identifier: Apache-2.0
// Copies and fills, at once or queued on a stream.
#include "base/env.h"
#include "device/capture_rules.h"
#include "device/host_memory.h"
#include "device/host_view.h"
#include "device/memory.h"
#include "device/queue.h"
#include "device/runtime.h"
#include "trace/trace.h"

namespace anynpu::device {

namespace {

constinit TaskKind kCopyH2d = TaskKind::queued("memcpy_async host to device", Engine::h2d);
constinit TaskKind kCopyD2h = TaskKind::queued("memcpy_async device to host", Engine::d2h);
constinit TaskKind kCopyD2d = TaskKind::queued("memcpy_async device to device", Engine::d2d);
constinit TaskKind kCopyH2h{"memcpy_async host to host", Engine::control};
constinit TaskKind kCopyRows = TaskKind::queued("memcpy2d_async", Engine::d2d);
constinit TaskKind kFill = TaskKind::queued("memset_async", Engine::d2d);

constexpr size_t kAsyncAlignment = 64;

bool strict() {
  static const bool on = env::flag(env::Name::strict);
  return on;
}

struct Checked {
  Range to;
  Range from;
};

// Kinds say where each side should be; only strict mode checks them.
Status check_sides(CopyKind kind, const Checked& ranges) {
  if (!strict() || kind == CopyKind::by_address) return {};
  const bool from_device = kind == CopyKind::device_to_host || kind == CopyKind::device_to_device ||
                           kind == CopyKind::inside_device || kind == CopyKind::between_devices;
  const bool to_device = kind != CopyKind::host_to_host && kind != CopyKind::device_to_host;
  if (ranges.from.on_device() == from_device && ranges.to.on_device() == to_device) return {};
  return fail(Code::invalid_argument,
              "the copy kind {} does not fit: src is {} memory, dst is {} memory (strict mode)",
              kind, ranges.from.on_device() ? "device" : "host",
              ranges.to.on_device() ? "device" : "host");
}

Result<Checked> check_copy(const Copy& request) {
  if (request.bytes > request.to_bytes) {
    return fail(Code::invalid_argument,
                "count is {}, but dst has room for {} (dest_max); copy less or allocate more",
                request.bytes, request.to_bytes);
  }
  Checked ranges;
  if (request.bytes == 0) return ranges;
  ANYNPU_ASSIGN(ranges.from, check_range(request.from, request.bytes, Access::read, "src"));
  ANYNPU_ASSIGN(ranges.to, check_range(request.to, request.bytes, Access::write, "dst"));
  ANYNPU_TRY(check_sides(request.kind, ranges));
  return ranges;
}

// What a copy that does not wait is called in the trace.
trace::StaticName& name_at_once(const Checked& ranges) {
  static constinit trace::StaticName names[] = {
      trace::StaticName("memcpy host to host"), trace::StaticName("memcpy host to device"),
      trace::StaticName("memcpy device to host"), trace::StaticName("memcpy device to device")};
  return names[ranges.from.on_device() * 2 + ranges.to.on_device()];
}

// The engine follows from the two addresses, regardless of the kind.
TaskKind& kind_of(const Checked& ranges) {
  if (!ranges.from.on_device()) return kCopyH2d;
  return ranges.to.on_device() ? kCopyD2d : kCopyD2h;
}

Status check_pitches(const Copy2d& request) {
  if (request.width <= request.to_pitch && request.width <= request.from_pitch) return {};
  return fail(
      Code::invalid_argument,
      "width is {}, but rows are {} (dst) and {} (src) bytes apart; a pitch is at least the width",
      request.width, request.to_pitch, request.from_pitch);
}

// Bytes from the first to the last one touched.
Result<size_t> span_of(size_t pitch, size_t width, size_t height) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(pitch, height - 1, &bytes) ||
      __builtin_add_overflow(bytes, width, &bytes)) {
    return fail(Code::invalid_argument, "{} rows of pitch {} are more than memory can hold", height,
                pitch);
  }
  return bytes;
}

Result<Checked> check_copy_2d(const Copy2d& request) {
  ANYNPU_TRY(check_pitches(request));
  Checked ranges;
  if (request.width == 0 || request.height == 0) return ranges;
  ANYNPU_ASSIGN(const size_t from_span, span_of(request.from_pitch, request.width, request.height));
  ANYNPU_ASSIGN(const size_t to_span, span_of(request.to_pitch, request.width, request.height));
  ANYNPU_ASSIGN(ranges.from, check_range(request.from, from_span, Access::read, "src"));
  ANYNPU_ASSIGN(ranges.to, check_range(request.to, to_span, Access::write, "dst"));
  ANYNPU_TRY(check_sides(request.kind, ranges));
  return ranges;
}

bool is_pinned(const Range& range) { return range.owner || device_pointer(range.address).ok(); }

// Copies with host memory that is not pinned are never recorded: the memory may be gone when the
// recorded work runs. They are done in the call, where captures allow that.
Result<bool> is_due_now(const Checked& ranges, const Stream& stream) {
  if (ranges.from.owner && ranges.to.owner) [[likely]]
    return false;
  const bool recorded = stream.recorder() != nullptr;
  if (!recorded && open_captures.load(std::memory_order_relaxed) == 0) return false;
  if (is_pinned(ranges.from) && is_pinned(ranges.to)) return false;
  ANYNPU_TRY(check_blocking_call("an asynchronous copy with host memory that is not pinned"));
  return recorded;
}

// A thread copies on streams of its current device, if it has one.
Status check_stream(const Stream& stream) {
  Runtime& runtime = Runtime::instance();
  if (runtime.device_count() <= 1 || !stream.device()) [[likely]]
    return {};
  const auto current = runtime.current();
  if (!current.ok() || (*current)->device() == stream.device()) return {};
  return fail(Code::wrong_context,
              "stream {} belongs to device {}, the current device of this thread is {}; call "
              "set_device or set_context first",
              stream.id(), stream.device()->id(), (*current)->device()->id());
}

CopyRows rows_of(const Copy2d& request) {
  return {request.to,     request.from,     request.width,
          request.height, request.to_pitch, request.from_pitch};
}

Result<Range> check_fill(void* address, size_t room, size_t bytes) {
  if (bytes > room) {
    return fail(Code::invalid_argument,
                "count is {}, but the memory has room for {} (max_count); fill less", bytes, room);
  }
  if (bytes == 0) return Range{};
  return check_range(address, bytes, Access::write, "dev_ptr");
}

}  // namespace

Result<CopyKind> check_copy_kind(int32_t kind) {
  if (kind >= 0 && kind <= static_cast<int32_t>(CopyKind::between_devices)) {
    return static_cast<CopyKind>(kind);
  }
  return fail(
      Code::invalid_argument,
      "the copy kind is {}; expected 0 (host to host), 1 (host to device), 2 (device to host), "
      "3 (device to device) or 4 (by address)",
      kind);
}

Status copy(const Copy& request) {
  ANYNPU_TRY(check_unsafe_call("a synchronous copy"));
  ANYNPU_ASSIGN(const Checked ranges, check_copy(request));
  if (request.bytes == 0) return {};
  const trace::TraceZone zone(trace::Category::copy, name_at_once(ranges),
                              trace::current_correlation(), request.bytes);
  return copy_bytes(ranges.to.address, ranges.from.address, request.bytes);
}

Status copy_async(const Copy& request, Stream& stream) {
  ANYNPU_TRY(check_stream(stream));
  ANYNPU_ASSIGN(Checked ranges, check_copy(request));
  if (request.kind == CopyKind::host_to_host) {
    return stream.submit(kCopyH2h, [] {
      return fail(
          Code::unsupported_feature,
          "an asynchronous copy from host to host is not supported; use the synchronous memcpy");
    });
  }
  if (strict() && (reinterpret_cast<uintptr_t>(request.to) % kAsyncAlignment ||
                   reinterpret_cast<uintptr_t>(request.from) % kAsyncAlignment)) {
    return fail(Code::unaligned_address,
                "dst {} and src {} must both start on a multiple of 64 for an asynchronous copy "
                "(strict mode)",
                request.to, request.from);
  }
  if (request.bytes == 0) return {};
  ANYNPU_ASSIGN(const bool now, is_due_now(ranges, stream));
  if (now) return copy_bytes(ranges.to.address, ranges.from.address, request.bytes);
  TaskKind& kind = kind_of(ranges);
  Queue& queue = stream.queue();
  return stream.submit(
      {kind, request.bytes}, [ranges = std::move(ranges), &queue, bytes = request.bytes] {
        // Host memory may have been freed by now; ours is kept by the range.
        if (!ranges.from.owner)
          ANYNPU_TRY(check_range(ranges.from.address, bytes, Access::read, "src").status());
        if (!ranges.to.owner)
          ANYNPU_TRY(check_range(ranges.to.address, bytes, Access::write, "dst").status());
        return queue.copy({ranges.to.address, ranges.from.address, bytes});
      });
}

Status copy_2d(const Copy2d& request) {
  ANYNPU_TRY(check_unsafe_call("a synchronous copy of rows"));
  ANYNPU_ASSIGN(const Checked ranges, check_copy_2d(request));
  if (request.width == 0 || request.height == 0) return {};
  ANYNPU_TRACE_ZONE(copy, "memcpy2d", trace::current_correlation(), request.width * request.height);
  return copy_rows(rows_of(request));
}

Status copy_2d_async(const Copy2d& request, Stream& stream) {
  ANYNPU_ASSIGN(Checked ranges, check_copy_2d(request));
  if (request.kind == CopyKind::host_to_host) {
    return copy_async({request.to, request.width, request.from, request.width, request.kind},
                      stream);
  }
  if (request.width == 0 || request.height == 0) return {};
  ANYNPU_ASSIGN(const bool now, is_due_now(ranges, stream));
  if (now) return copy_rows(rows_of(request));
  Queue& queue = stream.queue();
  return stream.submit(
      {kCopyRows, request.width * request.height},
      [to = std::move(ranges.to.owner), from = std::move(ranges.from.owner), &queue, request] {
        ANYNPU_TRY(check_copy_2d(request).status());
        return queue.copy(rows_of(request));
      });
}

Status fill(void* address, size_t room, int value, size_t bytes) {
  ANYNPU_TRY(check_unsafe_call("a synchronous fill"));
  ANYNPU_ASSIGN(const Range range, check_fill(address, room, bytes));
  if (bytes == 0) return {};
  ANYNPU_TRACE_ZONE(copy, "memset", trace::current_correlation(), bytes);
  return fill_bytes(range.address, value, bytes);
}

Status fill_async(void* address, size_t room, int value, size_t bytes, Stream& stream) {
  ANYNPU_ASSIGN(Range range, check_fill(address, room, bytes));
  if (bytes == 0) return {};
  Queue& queue = stream.queue();
  return stream.submit({kFill, bytes}, [range = std::move(range), &queue, value] {
    if (!range.owner) {
      ANYNPU_TRY(check_range(range.address, range.bytes, Access::write, "dev_ptr").status());
    }
    return queue.fill(range.address, value, range.bytes);
  });
}

}  // namespace anynpu::device
