// SPDX-License-Identifier: Apache-2.0
#include "trace/names.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

namespace anynpu::trace {

namespace {

// Not a std::mutex: `msprof --host-sys=osrt` records waits for those once they are over, and
// recording comes here again.
class NamesLock {
 public:
  void lock() {
    uint32_t free = kFree;
    if (state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) return;
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) {
      syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kAwaited, nullptr, nullptr, 0);
    }
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) {
      syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
  }

 private:
  static constexpr uint32_t kFree = 0, kHeld = 1, kAwaited = 2;
  std::atomic<uint32_t> state_{kFree};
};

struct NameTable {
  NamesLock mutex;
  std::deque<std::string> texts;  // a deque: texts never move, so views into them stay valid
  std::unordered_map<std::string_view, NameId> ids;

  NameTable() { add(""); }

  NameId add(std::string_view text) {
    const auto id = static_cast<NameId>(texts.size());
    texts.emplace_back(text);
    ids.emplace(texts.back(), id);
    return id;
  }
};

NameTable& name_table() {
  static NameTable* table = new NameTable;  // never destroyed: threads may outlive main
  return *table;
}

}  // namespace

NameId intern(std::string_view name) {
  name = name.substr(0, kLongestName);
  NameTable& table = name_table();
  std::lock_guard lock(table.mutex);
  if (auto found = table.ids.find(name); found != table.ids.end()) return found->second;
  if (table.texts.size() >= kMostNames - 1) {
    constexpr std::string_view kStandIn = "(too many names)";
    auto found = table.ids.find(kStandIn);
    return found != table.ids.end() ? found->second : table.add(kStandIn);
  }
  return table.add(name);
}

std::string_view name_of(NameId id) {
  NameTable& table = name_table();
  std::lock_guard lock(table.mutex);
  return id < table.texts.size() ? std::string_view(table.texts[id]) : "unknown name";
}

size_t name_count() {
  NameTable& table = name_table();
  std::lock_guard lock(table.mutex);
  return table.texts.size();
}

NameId StaticName::look_up() {
  const NameId id = intern(text_);
  id_.store(id, std::memory_order_relaxed);
  return id;
}

}  // namespace anynpu::trace
