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
#include "check/host_pages.h"
#include "check/lifetimes.h"
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

GuardMode mode = GuardMode::none;
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
  bool mine = false, in_target = false;
  {
    const std::lock_guard lock(mutex);
    for (Guard& guard : guards()) {
      if (address < guard.pages || address >= guard.pages + guard.page_bytes) continue;
      unprotect(guard);
      queued = guard.queued;
      offset = static_cast<size_t>(address - guard.target);
      mine = true;
      in_target = address >= guard.target && offset < guard.bytes;
    }
  }
  if (!mine) return pass_on(signal, info, context);
  if (!in_target) return;
  const Unseen unseen;
  report({"read-before-synchronize",
          format("the program touches byte {} of the target of a queued copy ({:#x}) before it has "
                 "waited for its stream: the bytes may still be the old ones; call {} first",
                 offset, reinterpret_cast<uintptr_t>(address),
                 python_is_here() ? "acl.rt.synchronize_stream" : "aclrtSynchronizeStream"),
          {{"touched", current_site(instruction(context))}, {"queued", queued}}});
  if (mode == GuardMode::pinned) lift_guards_at(reinterpret_cast<uintptr_t>(address), 1);
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

// The whole pages of a target; pages at the ends of a block that has pages of its own count as
// well.
struct Pages {
  uintptr_t start, end;
};
Pages pages_of(uintptr_t target, size_t bytes) {
  const size_t page = page_size();
  Pages pages{round_up(target, page), (target + bytes) / page * page};
  const auto block = block_at(target);
  if (!block || !owns_its_pages(block->base)) return mode == GuardMode::all ? pages : Pages{0, 0};
  if (target == block->base) pages.start = block->base;
  if (target + bytes == block->base + block->bytes) pages.end = round_up(target + bytes, page);
  return pages;
}

// A copy of a captured stream does not run now.
bool is_captured(uint64_t stream) {
  static auto* info =
      reinterpret_cast<decltype(&aclmdlRICaptureGetInfo)>(find_real("aclmdlRICaptureGetInfo"));
  const Unseen unseen;
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI model = nullptr;
  return info(reinterpret_cast<aclrtStream>(stream), &status, &model) == ACL_SUCCESS &&
         status != ACL_MODEL_RI_CAPTURE_STATUS_NONE;
}

}  // namespace

void set_guard_mode(GuardMode chosen) { mode = chosen; }
bool may_guard() { return mode != GuardMode::none; }

void* guard_target(void* target, size_t bytes, uint64_t stream) {
  if (mode == GuardMode::none) return nullptr;
  const auto [start, end] = pages_of(reinterpret_cast<uintptr_t>(target), bytes);
  if (end <= start || is_captured(stream)) return nullptr;
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
  if (mode == GuardMode::none) return;
  const std::lock_guard lock(mutex);
  std::erase_if(guards(), [](Guard& guard) {
    if (guard.number == 0 || !is_done(guard.stream, guard.number)) return false;
    settle(guard);
    return true;
  });
}

void lift_guards(Call& call) {
  if (mode == GuardMode::none) return;
  for (size_t i = 0; i < call.arguments(); ++i) {
    if (call.function().parameters[i].kind == Parameter::memory)
      lift_guards_at(call.argument(i), 1);
  }
}

void lift_guards_at(uint64_t address, uint64_t bytes) {
  if (mode == GuardMode::none) return;
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
  if (mode == GuardMode::none) return;
  const std::lock_guard lock(mutex);
  for (Guard& guard : guards()) unprotect(guard);
}

}  // namespace anynpu::check
