// SPDX-License-Identifier: Apache-2.0
#include "base/guarded_touch.h"

#include <cstdint>

#include "base/fault_guard.h"

// Each function is the touch, from its beginning to its first label, and the answer.
extern "C" {
int anynpu_touch_read(const void* at);
int anynpu_touch_write(void* at);
extern const char anynpu_touch_read_end[], anynpu_touch_write_end[], anynpu_touch_failed[];
}

#if defined(__x86_64__)
#define TOUCH_READ "movb (%rdi), %al\n"
#define TOUCH_WRITE "lock orb $0, (%rdi)\n"
#define ANSWER(number) "movl $" number ", %eax\nret\n"
#elif defined(__aarch64__)
#define TOUCH_READ "ldrb w1, [x0]\n"
#define TOUCH_WRITE "1: ldxrb w1, [x0]\nstxrb w2, w1, [x0]\ncbnz w2, 1b\n"
#define ANSWER(number) "mov w0, #" number "\nret\n"
#endif

asm(".pushsection .text\n"
    ".hidden anynpu_touch_read\n.hidden anynpu_touch_read_end\n"
    ".hidden anynpu_touch_write\n.hidden anynpu_touch_write_end\n.hidden anynpu_touch_failed\n"
    ".globl anynpu_touch_read\n.globl anynpu_touch_read_end\n"
    ".globl anynpu_touch_write\n.globl anynpu_touch_write_end\n.globl anynpu_touch_failed\n"
    "anynpu_touch_read:\n" TOUCH_READ "anynpu_touch_read_end:\n" ANSWER("1")  //
    "anynpu_touch_write:\n" TOUCH_WRITE
    "anynpu_touch_write_end:\n" ANSWER("1") "anynpu_touch_failed:\n" ANSWER("0")  //
    ".popsection\n");

namespace anynpu {

namespace {

uintptr_t place_of(const void* at) { return reinterpret_cast<uintptr_t>(at); }
uintptr_t place_of(int (*function)(const void*)) { return reinterpret_cast<uintptr_t>(function); }
uintptr_t place_of(int (*function)(void*)) { return reinterpret_cast<uintptr_t>(function); }

template <typename Touch>
bool touch_ends(uintptr_t first, size_t bytes, Touch touch) {
  static const bool installed = (install_fault_guard(), true);
  (void)installed;
  constexpr uintptr_t kLeastPage = 4096;
  if (!touch(first)) return false;
  if (bytes == 0 || bytes - 1 > UINTPTR_MAX - first) return bytes == 0;
  const uintptr_t last = first + bytes - 1;
  return first / kLeastPage == last / kLeastPage || touch(last);
}

}  // namespace

bool can_read(const void* at, size_t bytes) {
  return touch_ends(place_of(at), bytes, [](uintptr_t place) {
    return anynpu_touch_read(reinterpret_cast<const void*>(place)) != 0;
  });
}

bool can_write(void* at, size_t bytes) {
  return touch_ends(place_of(at), bytes, [](uintptr_t place) {
    return anynpu_touch_write(reinterpret_cast<void*>(place)) != 0;
  });
}

unsigned long after_touch(unsigned long place) {
  const bool reads = place >= place_of(anynpu_touch_read) &&
                     place < place_of(static_cast<const void*>(anynpu_touch_read_end));
  const bool writes = place >= place_of(anynpu_touch_write) &&
                      place < place_of(static_cast<const void*>(anynpu_touch_write_end));
  return reads || writes ? place_of(static_cast<const void*>(anynpu_touch_failed)) : 0;
}

}  // namespace anynpu
