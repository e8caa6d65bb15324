// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/fiber.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace anynpu::npc {

#if defined(__x86_64__)

extern "C" void anynpu_npc_switch(void** from, void* to);
// Saves what a called function must keep, changes stacks, and returns on the other one.
asm(R"(
  .text
  .hidden anynpu_npc_switch
  .globl anynpu_npc_switch
  .type anynpu_npc_switch, @function
anynpu_npc_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size anynpu_npc_switch, . - anynpu_npc_switch
  .hidden anynpu_npc_start
  .globl anynpu_npc_start
  .type anynpu_npc_start, @function
anynpu_npc_start:
  movq %r12, %rdi
  xorl %ebp, %ebp
  callq *%r13
  ud2
  .size anynpu_npc_start, . - anynpu_npc_start
)");
extern "C" void anynpu_npc_start();

bool Fiber::supported() { return true; }

void Fiber::prepare(void (*entry)(void*), void* argument) {
  abandon_frames();
  // What anynpu_npc_switch pops: r15, r14, r13, r12, rbx, rbp, then the return address; behind it
  // the stack is aligned as calls want it.
  auto* at = reinterpret_cast<uint64_t*>(top_ - 120);
  at[0] = at[1] = at[4] = at[5] = 0;
  at[2] = reinterpret_cast<uint64_t>(entry);
  at[3] = reinterpret_cast<uint64_t>(argument);
  at[6] = reinterpret_cast<uint64_t>(anynpu_npc_start);
  own_ = at;
}

void Fiber::resume() {
  // Kernels compute with gradual underflow and round to nearest, whatever the thread prefers.
  const unsigned csr = _mm_getcsr();
  _mm_setcsr(0x1f80);
  anynpu_npc_switch(&host_, own_);
  _mm_setcsr(csr);
}

void Fiber::suspend() { anynpu_npc_switch(&own_, host_); }

#else

bool Fiber::supported() { return false; }
void Fiber::prepare(void (*)(void*), void*) {}
void Fiber::resume() {}
void Fiber::suspend() {}

#endif

Result<std::unique_ptr<Fiber>> Fiber::create(size_t bytes) {
  void* at = mmap(nullptr, bytes + kGuard, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (at == MAP_FAILED) {
    return fail(Code::io_error, "no address space for a stack of {} bytes: {}", bytes,
                std::strerror(errno));
  }
  auto* low = static_cast<std::byte*>(at) + kGuard;
  if (mprotect(low, bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(at, bytes + kGuard);
    return fail(Code::io_error, "a stack of {} bytes cannot be made usable: {}", bytes,
                std::strerror(errno));
  }
  return std::unique_ptr<Fiber>(new Fiber(low, bytes));
}

void Fiber::abandon_frames() {
  ASAN_UNPOISON_MEMORY_REGION(low_, static_cast<size_t>(top_ - low_));  // nothing in other builds
}

Fiber::~Fiber() { munmap(low_ - kGuard, static_cast<size_t>(top_ - low_) + kGuard); }

}  // namespace anynpu::npc
