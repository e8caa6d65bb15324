// SPDX-License-Identifier: Apache-2.0
#include "base/fault_guard.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "base/guarded_touch.h"

namespace anynpu {

namespace {

struct Armed {
  FaultHandler handler = nullptr;
  void* cookie = nullptr;
};
thread_local constinit Armed armed;

std::mutex install_mutex;
struct sigaction before[2];  // what was there: SIGSEGV, SIGBUS

struct sigaction& previous(int signal) {
  return before[signal == SIGBUS];
}

struct Explanation {
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<const char*> text{nullptr};
};
constexpr size_t kMostExplanations = 16;
constinit Explanation explanations[kMostExplanations];
constinit std::atomic<size_t> explained{0};

// Async-signal-safe.
void explain(const void* at) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  for (const Explanation& one : explanations) {
    const char* const text = one.text.load(std::memory_order_acquire);
    if (!text || address < one.begin || address >= one.end) continue;
    (void)!write(STDERR_FILENO, text, std::strlen(text));
    return;
  }
}

// A faulting touch of guarded_touch.h continues with its answer.
bool ends_touch(ucontext_t& context) {
#if defined(__x86_64__)
  greg_t& place = context.uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  auto& place = context.uc_mcontext.pc;
#endif
  const unsigned long next = after_touch(static_cast<unsigned long>(place));
  if (next != 0) place = static_cast<std::remove_reference_t<decltype(place)>>(next);
  return next != 0;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (ends_touch(*static_cast<ucontext_t*>(context))) return;
  if (armed.handler && armed.handler(armed.cookie, *info, *static_cast<ucontext_t*>(context))) {
    return;
  }
  explain(info->si_addr);
  const struct sigaction& old = previous(signal);
  if (old.sa_flags & SA_SIGINFO) {
    old.sa_sigaction(signal, info, context);
  } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
    old.sa_handler(signal);
  } else {
    // The instruction runs again and the process ends as it would have without us.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
  }
}

// A signal stack of this thread's own, for as long as the thread lives. A program's stack that is
// there already is kept.
class SignalStack {
 public:
  SignalStack() {
    stack_t now{};
    if (sigaltstack(nullptr, &now) == 0 && !(now.ss_flags & SS_DISABLE)) return;
    const unsigned long least = getauxval(AT_MINSIGSTKSZ);
    bytes_ = (least > 0 ? least : 16384) + (64 << 10);
    void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    stack_t mine{};
    mine.ss_sp = at;
    mine.ss_size = bytes_;
    if (sigaltstack(&mine, nullptr) == 0) {
      at_ = at;
    } else {
      munmap(at, bytes_);
    }
  }
  ~SignalStack() {
    if (!at_) return;
    stack_t now{};
    if (sigaltstack(nullptr, &now) == 0 && now.ss_sp == at_) {
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
    }
    munmap(at_, bytes_);
  }
  void* at() const { return at_; }

 private:
  void* at_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace

void install_fault_guard() {
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) != 0) continue;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault) continue;
    std::lock_guard lock(install_mutex);
    struct sigaction ours {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    previous(signal) = now;
    sigaction(signal, &ours, nullptr);
  }
}

void explain_faults(uintptr_t begin, size_t bytes, const char* text) {
  install_fault_guard();
  const size_t place = explained.fetch_add(1);
  if (place >= kMostExplanations) return;
  explanations[place].begin = begin;
  explanations[place].end = begin + bytes;
  explanations[place].text.store(text, std::memory_order_release);
}

FaultScope::FaultScope(FaultHandler handler, void* cookie)
    : before_(armed.handler), before_cookie_(armed.cookie) {
  static thread_local SignalStack stack;
  (void)stack.at();
  armed = {handler, cookie};
}

FaultScope::~FaultScope() { armed = {before_, before_cookie_}; }

}  // namespace anynpu
