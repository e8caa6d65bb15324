// SPDX-License-Identifier: Apache-2.0
#include "check/contents.h"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "check/call.h"
#include "check/hooks.h"
#include "check/lifetime_table.h"
#include "check/lifetimes.h"
#include "check/report.h"

namespace anynpu::check {

namespace {

// Written parts of an allocation: begin -> end, disjoint.
using Written = std::map<uint64_t, uint64_t>;

struct Contents {
  uint64_t bytes = 0;
  bool followed = true;
  Written written;
};

struct State {
  std::mutex mutex;
  std::map<uint64_t, Contents> blocks;  // by base
};
State& state() {
  static auto* s = new State;
  return *s;
}

// Called with the lock held.
std::map<uint64_t, Contents>::iterator holding(uint64_t address) {
  auto& blocks = state().blocks;
  auto found = blocks.upper_bound(address);
  if (found == blocks.begin()) return blocks.end();
  --found;
  return address - found->first < found->second.bytes ? found : blocks.end();
}

void add(Written& written, uint64_t begin, uint64_t end) {
  auto at = written.upper_bound(begin);
  if (at != written.begin() && std::prev(at)->second >= begin) --at;
  while (at != written.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = written.erase(at);
  }
  written[begin] = end;
}

bool any(const Written& written, uint64_t begin, uint64_t end) {
  auto at = written.lower_bound(end);
  return at != written.begin() && std::prev(at)->second > begin;
}

// True when nothing wrote any of these bytes; they count as written afterwards.
bool is_undefined(const Touched& t) {
  const std::lock_guard lock(state().mutex);
  const auto found = holding(t.address);
  if (found == state().blocks.end() || !found->second.followed) return false;
  if (any(found->second.written, t.address, t.address + t.bytes)) return false;
  add(found->second.written, t.address, t.address + t.bytes);
  return true;
}

void note_write(const Touched& t) {
  const std::lock_guard lock(state().mutex);
  const auto found = holding(t.address);
  if (found != state().blocks.end()) add(found->second.written, t.address, t.address + t.bytes);
}

// They keep an address for calls that have hooks, or only ask about it.
constexpr std::string_view kHarmless[] = {"aclCreateDataBuffer", "aclUpdateDataBuffer",
                                          "acldvppSetPicDescData", "aclrtPointerGetAttributes",
                                          "aclmdlAddDatasetBuffer"};

// They take structs or lists with addresses, by the beginning of the name.
constexpr std::string_view kReachAnything[] = {"aclrtRandomNum", "aclrtLaunch", "aclmdlRIExecute",
                                               "aclrtMemcpyAsyncWith"};

// Libraries whose calls are not seen here, and which write device memory.
int is_other_writer(dl_phdr_info* info, size_t, void*) {
  for (const char* name : {"/libopapi", "/libge_", "/libgraph"}) {
    if (std::strstr(info->dlpi_name, name)) return 1;
  }
  return 0;
}

}  // namespace

void begin_contents(uint64_t base, uint64_t bytes) {
  const std::lock_guard lock(state().mutex);
  state().blocks[base] = {bytes, true, {}};
}

void end_contents(uint64_t base) {
  const std::lock_guard lock(state().mutex);
  state().blocks.erase(base);
}

void stop_following(uint64_t address) {
  const std::lock_guard lock(state().mutex);
  if (address == 0) {
    for (auto& [base, contents] : state().blocks) contents.followed = false;
    return;
  }
  if (const auto found = holding(address); found != state().blocks.end())
    found->second.followed = false;
}

void check_contents(Call& call, const std::vector<Touched>& touched) {
  for (const Touched& t : touched) {
    if (t.bytes == 0 || t.access != Access::read || !is_undefined(t)) continue;
    if (dl_iterate_phdr(is_other_writer, nullptr) != 0) continue;
    const auto block = block_at(t.address);
    report({"read-before-write",
            format("{} reads {} bytes at {:#x} ({}) of device memory that nothing has written: "
                   "their values are undefined; fill them first (a copy, {}, a model's output)",
                   call.function().shown(), t.bytes, t.address, t.what,
                   python_is_here() ? "acl.rt.memset" : "aclrtMemset"),
            {{"read", call.site()}, {"created", block ? block->created : nullptr}}});
  }
  for (const Touched& t : touched) {
    if (t.access == Access::write && t.bytes != 0) note_write(t);
  }
}

void note_unknown_writes(Call& call) {
  const std::string_view name = call.function().name;
  if (call.function().before || call.function().after || contains(kHarmless, name)) return;
  if (lifetimes_of(name).first && lifetimes_of(name).first->role == LifetimeRow::destroy) return;
  for (const std::string_view beginning : kReachAnything) {
    if (name.starts_with(beginning)) return stop_following(0);
  }
  for (size_t i = 0; i < call.arguments(); ++i) {
    if (call.argument(i) > UINT32_MAX) stop_following(call.argument(i));
  }
}

}  // namespace anynpu::check
