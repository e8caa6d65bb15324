// SPDX-License-Identifier: Apache-2.0
#include "check/host_buffers.h"

#include <dlfcn.h>

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "anynpu.h"
#include "base/format.h"
#include "check/call.h"
#include "check/report.h"

namespace anynpu::check {

namespace {

constexpr uint64_t kMostDeadBytes = 64 << 20;

// The beginning of Py_buffer, which is part of Python's stable ABI, and room for the rest.
struct View {
  void* address = nullptr;
  void* object = nullptr;
  intptr_t bytes = 0;
  char rest[128] = {};
};
constexpr int kStrided = 0x0010 | 0x0008;  // PyBUF_STRIDED_RO

struct Python {
  int (*get_buffer)(void*, void*, int);
  void (*release_buffer)(void*);
  void* (*attribute)(void*, const char*);
  void (*increase)(void*);
  void (*decrease)(void*);
  void (*clear)();
  void* none;
  bool complete;
};

template <typename F>
bool look_up(const char* name, F& into) {
  into = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
  return into != nullptr;
}

const Python& python() {
  static const Python found = [] {
    Python p{};
    p.complete = look_up("PyObject_GetBuffer", p.get_buffer) &&
                 look_up("PyBuffer_Release", p.release_buffer) &&
                 look_up("PyObject_GetAttrString", p.attribute) &&
                 look_up("Py_IncRef", p.increase) && look_up("Py_DecRef", p.decrease) &&
                 look_up("PyErr_Clear", p.clear) && look_up("_Py_NoneStruct", p.none);
    return p;
  }();
  return found;
}

// Objects begin with their count of references; from 3.12 on it has 32 bits.
uint32_t references(const void* object) {
  return __atomic_load_n(static_cast<const uint32_t*>(object), __ATOMIC_RELAXED);
}

struct Held {
  void* owner = nullptr;
  uint64_t bytes = 0;
  bool of_numpy = false;
  Site taken;
};

struct State {
  std::mutex mutex;
  std::map<uint64_t, Held> held;  // by base
  std::deque<uint64_t> order;     // of `held`, the oldest first
  uint64_t bytes = 0;             // of `held`, since the last sweep at least
};
State& state() {
  static auto* s = new State;
  return *s;
}

bool is_dead(const Held& held) { return references(held.owner) == 1; }

// The object that owns the memory of an array: views have a base. A new reference.
void* owner_of(void* object) {
  const Python& p = python();
  p.increase(object);
  for (int i = 0; i < 16; ++i) {
    void* base = p.attribute(object, "base");
    if (!base) p.clear();
    if (!base || base == p.none) {
      if (base) p.decrease(base);
      return object;
    }
    View view;
    if (p.get_buffer(base, &view, kStrided) != 0) {  // owned by something else: the view decides
      p.clear();
      p.decrease(base);
      return object;
    }
    p.release_buffer(&view);
    p.decrease(object);
    object = base;
  }
  return object;
}

// Called with the lock held; the references are for the caller to give back without it.
std::vector<void*> take_oldest_dead() {
  uint64_t dead = 0;
  State& all = state();
  for (const auto& [base, held] : all.held) dead += is_dead(held) ? held.bytes : 0;
  std::vector<void*> out;
  for (auto at = all.order.begin(); at != all.order.end() && dead > kMostDeadBytes;) {
    const auto found = all.held.find(*at);
    if (found != all.held.end() && !is_dead(found->second)) {
      ++at;
      continue;
    }
    if (found != all.held.end()) {
      dead -= found->second.bytes;
      out.push_back(found->second.owner);
      all.held.erase(found);
    }
    at = all.order.erase(at);
  }
  all.bytes = 0;
  return out;
}

// With the GIL held.
void hold(void* object) {
  const Python& p = python();
  if (!p.complete) return;
  void* owner = owner_of(object);
  View view;
  if (p.get_buffer(owner, &view, kStrided) != 0) {
    p.clear();
    return p.decrease(owner);
  }
  const auto base = word(view.address);
  const auto bytes = static_cast<uint64_t>(view.bytes);
  p.release_buffer(&view);
  const Site site = current_site();
  std::vector<void*> given_back;
  {
    const std::lock_guard lock(state().mutex);
    Held& held = state().held[base];
    if (held.owner) {
      given_back.push_back(held.owner);  // the same object, or memory that moved
    } else {
      state().order.push_back(base);
    }
    held = {owner, bytes, p.attribute != nullptr && object != owner, site};
    state().bytes += bytes;
    if (state().bytes > kMostDeadBytes || state().held.size() % 4096 == 0) {
      const auto oldest = take_oldest_dead();
      given_back.insert(given_back.end(), oldest.begin(), oldest.end());
    }
  }
  for (void* each : given_back) p.decrease(each);
}

}  // namespace

std::optional<HostBuffer> host_buffer_at(uint64_t address) {
  const std::lock_guard lock(state().mutex);
  auto found = state().held.upper_bound(address);
  if (found == state().held.begin()) return std::nullopt;
  --found;
  const Held& held = found->second;
  if (address - found->first >= held.bytes) return std::nullopt;
  return HostBuffer{found->first, held.bytes, held.of_numpy ? "an array" : "an object",
                    is_dead(held), held.taken};
}

bool check_host_buffer(Call& call, const char* what, uint64_t address, uint64_t bytes) {
  const auto buffer = host_buffer_at(address);
  if (!buffer) return false;
  if (buffer->is_dead) {
    report({"dangling-pointer",
            format("{}: {} = {:#x} is the memory of a Python object ({} bytes) that is gone: "
                   "nothing but its address was kept, as in bytes_to_ptr(x.tobytes()); keep the "
                   "object in a variable until its memory is no longer used",
                   call.function().shown(), what, address, buffer->bytes),
            {{"used", call.site()}, {"address taken", buffer->taken}}});
    return true;
  }
  const uint64_t left = buffer->base + buffer->bytes - address;
  if (bytes > left) {
    report({"past-the-end",
            format("{}: {} = {:#x} has {} bytes left in its Python object of {}, the call touches "
                   "{}; use a larger object or a smaller size",
                   call.function().shown(), what, address, left, buffer->bytes, bytes),
            {{"used", call.site()}, {"address taken", buffer->taken}}});
  }
  return true;
}

void check_host_buffer_of_task(const char* function, uint64_t address, const Site& queued) {
  const auto buffer = host_buffer_at(address);
  if (!buffer || !buffer->is_dead) return;
  report({"dangling-pointer",
          format("{}: the Python object ({} bytes) whose memory {:#x} the queued work uses was "
                 "dropped before the program waited for it; keep it in a variable until then",
                 function, buffer->bytes, address),
          {{"queued", queued}, {"address taken", buffer->taken}}});
}

}  // namespace anynpu::check

// What acl.util.bytes_to_ptr and its like tell; the calling thread holds the GIL.
extern "C" __attribute__((visibility("default"))) void anynpu_acl_note_buffer(void* owner,
                                                                              const void*) {
  using namespace anynpu::check;
  if (is_on() && owner) hold(owner);
}
