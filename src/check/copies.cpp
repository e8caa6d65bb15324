// SPDX-License-Identifier: Apache-2.0
// Copies, fills and frees.
#include "acl/acl.h"
#include "base/align.h"
#include "base/format.h"
#include "check/guard.h"
#include "check/hooks.h"
#include "check/lifetimes.h"
#include "check/order.h"
#include "check/report.h"
#include "check/runtime_state.h"

namespace anynpu::check {

namespace {

constexpr uint64_t kAsyncAlignment = 64;  // guide 4.5.3 and 7.1

// dst, destMax, src, count, kind.
struct Copy {
  explicit Copy(const Call& call)
      : to(call.argument(0)),
        room(call.argument(1)),
        from(call.argument(2)),
        bytes(call.argument(3)),
        kind(static_cast<int32_t>(call.argument(4))) {}
  uint64_t to, room, from, bytes;
  int32_t kind;

  std::vector<Touched> touched() const {
    return {{"src", from, bytes, Access::read}, {"dst", to, bytes, Access::write}};
  }
};

void check_room(Call& call, uint64_t bytes, uint64_t room) {
  if (bytes <= room) return;
  report({"past-the-end",
          format("{} writes {} bytes where the call itself says that {} fit; pass the right size",
                 call.function().shown(), bytes, room),
          {{"called", call.site()}}});
}

void check_kind(Call& call, int32_t kind, uint64_t to, uint64_t from) {
  if (runs_on_device() || kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_DEVICE_TO_DEVICE)
    return;
  if (to == 0 || from == 0) return;  // no memory at all: the call fails, and says so
  const bool to_device = is_device_memory(to), from_device = is_device_memory(from);
  const bool wants_to = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const bool wants_from = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  if (to_device == wants_to && from_device == wants_from) return;
  static constexpr const char* kNames[] = {"host to host", "host to device", "device to host",
                                           "device to device"};
  const int right = (from_device ? 2 : 0) + (to_device ? 1 : 0);
  report(
      {"copy-kind",
       format(
           "{}: the kind is {} ({}), but src {:#x} is {} memory and dst {:#x} is {} memory; pass "
           "{} ({})",
           call.function().shown(), kind, kNames[kind], from, from_device ? "device" : "host", to,
           to_device ? "device" : "host", right, kNames[right]),
       {{"called", call.site()}}});
}

void check_alignment(Call& call, const char* what, uint64_t address) {
  if (is_aligned(address, kAsyncAlignment)) return;
  report(
      {"unaligned-async-copy",
       format("{}: {} = {:#x} is {} bytes behind a multiple of 64; asynchronous copies need both "
              "addresses on a multiple of 64 (guide 7.1)",
              call.function().shown(), what, address, address % kAsyncAlignment),
       {{"called", call.site()}}});
}

void check_copy(Call& call, const Copy& copy) {
  check_room(call, copy.bytes, copy.room);
  check_span(call, "dst", copy.to, copy.bytes);
  check_span(call, "src", copy.from, copy.bytes);
  if (!call.told()) check_kind(call, copy.kind, copy.to, copy.from);
}

struct Rows {
  explicit Rows(const Call& call) {
    const uint64_t to_pitch = call.argument(1), from_pitch = call.argument(3);
    const uint64_t width = call.argument(4), height = call.argument(5);
    if (width == 0 || height == 0) return;
    touched = {{"src", call.argument(2), from_pitch * (height - 1) + width, Access::read},
               {"dst", call.argument(0), to_pitch * (height - 1) + width, Access::write}};
  }
  std::vector<Touched> touched;
};

void check_spans(Call& call, const std::vector<Touched>& touched) {
  for (const Touched& t : touched) check_span(call, t.what, t.address, t.bytes);
}

void check_rows(Call& call, const Rows& rows) {
  check_spans(call, rows.touched);
  if (call.told()) return;
  check_kind(call, static_cast<int32_t>(call.argument(6)), call.argument(0), call.argument(2));
}

// dsts, destMax, srcs, sizes, count.
std::vector<Touched> batch(const Call& call) {
  std::vector<Touched> touched;
  auto* to = call.pointer<uint64_t>(0);
  auto* from = call.pointer<uint64_t>(2);
  auto* sizes = call.pointer<size_t>(3);
  if (!to || !from || !sizes) return touched;
  for (size_t i = 0; i < call.argument(4); ++i) {
    touched.push_back({"a source of the batch", from[i], sizes[i], Access::read});
    touched.push_back({"a target of the batch", to[i], sizes[i], Access::write});
  }
  return touched;
}

}  // namespace

void before_memcpy(Call& call) {
  const Copy copy(call);
  check_copy(call, copy);
  host_work(call, copy.touched());
}

void before_memcpy_async(Call& call) {
  const Copy copy(call);
  check_copy(call, copy);
  check_alignment(call, "dst", copy.to);
  check_alignment(call, "src", copy.from);
}

void after_memcpy_async(Call& call) {
  const Copy copy(call);
  if (!call.worked() || copy.kind == ACL_MEMCPY_HOST_TO_HOST) return;
  queue_work(call, stream_of(call.argument(5)), copy.touched());
}

void before_memcpy_2d(Call& call) {
  const Rows rows(call);
  check_rows(call, rows);
  host_work(call, rows.touched);
}

void after_memcpy_2d_async(Call& call) {
  const Rows rows(call);
  check_rows(call, rows);
  if (call.worked()) queue_work(call, stream_of(call.argument(7)), rows.touched);
}

void before_memset(Call& call) {
  check_room(call, call.argument(3), call.argument(1));
  check_span(call, "dev_ptr", call.argument(0), call.argument(3));
  host_work(call, {{"dev_ptr", call.argument(0), call.argument(3), Access::write}});
}

void after_memset_async(Call& call) {
  check_room(call, call.argument(3), call.argument(1));
  check_span(call, "dev_ptr", call.argument(0), call.argument(3));
  if (!call.worked()) return;
  queue_work(call, stream_of(call.argument(4)),
             {{"dev_ptr", call.argument(0), call.argument(3), Access::write}});
}

void after_reduce_async(Call& call) {
  if (!call.worked()) return;
  queue_work(call, stream_of(call.argument(5)),
             {{"src", call.argument(1), call.argument(2), Access::read},
              {"dst", call.argument(0), call.argument(2), Access::write}});
}

// Guarded targets among the addresses of the lists.
void before_batch(Call& call) {
  auto* to = call.pointer<uint64_t>(0);
  auto* from = call.pointer<uint64_t>(2);
  if (!to || !from) return;
  for (size_t i = 0; i < call.argument(4); ++i) {
    lift_guards_at(to[i], 1);
    lift_guards_at(from[i], 1);
  }
}

// Afterwards: only then is it known that the lists can be read.
void after_batch(Call& call) {
  if (!call.worked()) return;
  const auto touched = batch(call);
  check_spans(call, touched);
  host_work(call, touched);
}

void after_batch_async(Call& call) {
  if (!call.worked()) return;
  const auto touched = batch(call);
  check_spans(call, touched);
  queue_work(call, stream_of(call.argument(9)), touched);
}

void before_free(Call& call) { host_free(call, call.argument(0)); }

}  // namespace anynpu::check

using namespace anynpu::check;

// By hand, because a guarded copy writes somewhere else.
extern "C" __attribute__((visibility("default"))) aclError aclrtMemcpyAsync(
    void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
    aclrtStream stream) {
  static constexpr Parameter parameters[] = {
      {"dst", Parameter::memory},  {"dest_max", Parameter::other}, {"src", Parameter::memory},
      {"count", Parameter::other}, {"kind", Parameter::other},     {"stream", Parameter::other}};
  static Function function{"aclrtMemcpyAsync", "acl.rt.memcpy_async", "libascendcl.so", parameters,
                           true};
  static auto* real = reinterpret_cast<decltype(&aclrtMemcpyAsync)>(function.resolve());
  const uint64_t words[] = {word(dst),   word(destMax), word(src),
                            word(count), word(kind),    word(stream)};
  Call call(function, words);
  void* shadow = nullptr;
  const bool guarded = call.counts() && may_guard() && kind == ACL_MEMCPY_DEVICE_TO_HOST &&
                       count <= destMax && !runs_on_device();
  if (guarded && !is_device_memory(word(dst)))
    shadow = guard_target(dst, count, stream_of(word(stream)));
  const aclError result =
      call.finish(real(shadow ? shadow : dst, shadow ? count : destMax, src, count, kind, stream));
  if (shadow) guard_queued(shadow, stream_of(word(stream)), result == ACL_SUCCESS);
  return result;
}

// What acl.util.ptr_to_bytes and ptr_to_numpy ask before they read.
extern "C" __attribute__((visibility("default"))) int anynpu_probe_readable(const void* address,
                                                                            size_t bytes) {
  static constexpr Parameter parameters[] = {{"ptr", Parameter::memory},
                                             {"size", Parameter::other}};
  static Function function{"acl.util.ptr_to_bytes or ptr_to_numpy", "-", "libanynpu.so", parameters,
                           false};
  static auto* real = reinterpret_cast<decltype(&anynpu_probe_readable)>(
      find_real("anynpu_probe_readable", "libanynpu.so"));
  const uint64_t words[] = {word(address), word(bytes)};
  Call call(function, words);
  if (call.counts()) {
    check_span(call, "ptr", word(address), bytes);
    host_work(call, {{"ptr", word(address), bytes, Access::read}});
  }
  return call.finish(real(address, bytes));
}
