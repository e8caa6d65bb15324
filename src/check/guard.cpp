// SPDX-License-Identifier: Apache-2.0
#include "check/guard.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <mutex>
#include <vector>

#include "acl/acl.h"
#include "base/align.h"
#include "base/format.h"
#include "check/call.h"
#include "check/order.h"
#include "check/report.h"

namespace anynpu::check {

namespace {

struct Guard {
  uint8_t* target = nullptr;
  size_t bytes = 0;
  uint8_t* pages = nullptr;  // the protected ones
  size_t page_bytes = 0;
  uint8_t* shadow = nullptr;
  uint64_t stream = 0, number = 0;  // number 0: the copy is not queued yet
  bool protecting = false;
  Site queued;
};

bool enabled = false;
struct sigaction before {};
std::recursive_mutex mutex;  // guards the list; a fault in its holder must not stop
std::vector<Guard>& guards() {
  static auto* list = new std::vector<Guard>;
  return *list;
}

size_t page_size() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void unprotect(Guard& guard) {
  if (!guard.protecting) return;
  mprotect(guard.pages, guard.page_bytes, PROT_READ | PROT_WRITE);
  guard.protecting = false;
}

// The bytes arrive.
void settle(Guard& guard) {
  unprotect(guard);
  std::memcpy(guard.target, guard.shadow, guard.bytes);
  munmap(guard.shadow, guard.bytes);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler == SIG_IGN) return;
  if (before.sa_handler != SIG_DFL) return before.sa_handler(signal);
  std::signal(signal, SIG_DFL);  // comes again, and ends the process
}

const void* instruction(void* context) {
#if defined(__x86_64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#else
  return nullptr;
#endif
}

// Our own work happens here as in any call: the fault came from a load or store of the program,
// which holds no lock of the allocator or of this library.
void on_fault(int signal, siginfo_t* info, void* context) {
  auto* address = static_cast<uint8_t*>(info->si_addr);
  Site queued;
  size_t offset = 0;
  bool mine = false;
  {
    const std::lock_guard lock(mutex);
    for (Guard& guard : guards()) {
      if (address < guard.pages || address >= guard.pages + guard.page_bytes) continue;
      unprotect(guard);
      queued = guard.queued;
      offset = static_cast<size_t>(address - guard.target);
      mine = true;
    }
  }
  if (!mine) return pass_on(signal, info, context);
  const Unseen unseen;
  report({"read-before-synchronize",
          format("the program touches byte {} of the target of a queued copy ({:#x}) before it has "
                 "waited for its stream; the bytes are the old ones",
                 offset, reinterpret_cast<uintptr_t>(address)),
          {{"touched", current_site(instruction(context))}, {"queued", queued}}});
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
  });
}

// Waits for the copy itself, unseen by the order of the program.
void finish_copy(const Guard& guard) {
  static auto* wait =
      reinterpret_cast<decltype(&aclrtSynchronizeStream)>(find_real("aclrtSynchronizeStream"));
  const Unseen unseen;
  if (guard.stream) (void)wait(reinterpret_cast<aclrtStream>(guard.stream));
}

}  // namespace

void enable_guards() { enabled = true; }

void* guard_target(void* target, size_t bytes) {
  if (!enabled) return nullptr;
  const size_t page = page_size();
  const auto start = round_up(reinterpret_cast<uintptr_t>(target), page);
  const auto end = (reinterpret_cast<uintptr_t>(target) + bytes) / page * page;
  if (end <= start) return nullptr;
  install();
  lift_guards_at(reinterpret_cast<uintptr_t>(target), bytes);
  void* shadow = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (shadow == MAP_FAILED) return nullptr;
  Guard guard;
  guard.target = static_cast<uint8_t*>(target);
  guard.bytes = bytes;
  guard.pages = reinterpret_cast<uint8_t*>(start);
  guard.page_bytes = end - start;
  guard.shadow = static_cast<uint8_t*>(shadow);
  const std::lock_guard lock(mutex);
  guards().push_back(std::move(guard));
  return shadow;
}

void guard_queued(void* shadow, uint64_t stream, bool queued) {
  const uint64_t number = queued ? last_task(stream) : 0;
  const Site site = queued ? current_site() : nullptr;
  const std::lock_guard lock(mutex);
  for (auto at = guards().begin(); at != guards().end(); ++at) {
    if (at->shadow != shadow) continue;
    if (!queued) {
      munmap(at->shadow, at->bytes);
      guards().erase(at);
      return;
    }
    at->stream = stream;
    at->number = number;
    at->queued = site;
    at->protecting = mprotect(at->pages, at->page_bytes, PROT_NONE) == 0;
    return;
  }
}

void settle_guards() {
  if (!enabled) return;
  const std::lock_guard lock(mutex);
  std::erase_if(guards(), [](Guard& guard) {
    if (guard.number == 0 || !is_done(guard.stream, guard.number)) return false;
    settle(guard);
    return true;
  });
}

void lift_guards(Call& call) {
  if (!enabled) return;
  for (size_t i = 0; i < call.arguments(); ++i) {
    if (call.function().parameters[i].kind == Parameter::memory)
      lift_guards_at(call.argument(i), 1);
  }
}

void lift_guards_at(uint64_t address, uint64_t bytes) {
  if (!enabled) return;
  std::vector<Guard> lifted;
  {
    const std::lock_guard lock(mutex);
    std::erase_if(guards(), [&](Guard& guard) {
      const auto start = reinterpret_cast<uintptr_t>(guard.target);
      if (guard.number == 0 || start >= address + bytes || address >= start + guard.bytes)
        return false;
      unprotect(guard);
      lifted.push_back(std::move(guard));
      return true;
    });
  }
  for (Guard& guard : lifted) {  // without the lock: what is waited for may run callbacks
    finish_copy(guard);
    settle(guard);
  }
}

void drop_guards() {
  if (!enabled) return;
  const std::lock_guard lock(mutex);
  for (Guard& guard : guards()) unprotect(guard);
}

}  // namespace anynpu::check
