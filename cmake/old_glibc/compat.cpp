// SPDX-License-Identifier: Apache-2.0
// What headers and objects of a newer glibc ask for and 2.28 does not have, linked into each
// library of a wheel (make_stubs.py), hidden. Where the running system has the function itself,
// that one is called if it does more.
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

extern "C" {

// 2.32. Reference counts of shared pointers stay atomic.
char __libc_single_threaded = 0;

// 2.30.
pid_t gettid(void) { return static_cast<pid_t>(syscall(SYS_gettid)); }

// 2.33: before, headers called these with a version of the structure.
#if defined(__x86_64__)
constexpr int kStatVersion = 1;
constexpr int kNodeVersion = 0;
#else
constexpr int kStatVersion = 0;
constexpr int kNodeVersion = 0;
#endif
int __xstat(int version, const char* path, struct stat* to);
int __fxstat(int version, int file, struct stat* to);
int __lxstat(int version, const char* path, struct stat* to);
int __fxstatat(int version, int folder, const char* path, struct stat* to, int flags);
int __xmknod(int version, const char* path, mode_t mode, dev_t* device);

int stat(const char* path, struct stat* to) noexcept { return __xstat(kStatVersion, path, to); }
int fstat(int file, struct stat* to) noexcept { return __fxstat(kStatVersion, file, to); }
int lstat(const char* path, struct stat* to) noexcept { return __lxstat(kStatVersion, path, to); }
int fstatat(int folder, const char* path, struct stat* to, int flags) noexcept {
  return __fxstatat(kStatVersion, folder, path, to, flags);
}
int mknod(const char* path, mode_t mode, dev_t device) noexcept {
  return __xmknod(kNodeVersion, path, mode, &device);
}
// The same structure on 64-bit systems.
int stat64(const char* path, struct stat64* to) noexcept {
  return __xstat(kStatVersion, path, reinterpret_cast<struct stat*>(to));
}
int fstat64(int file, struct stat64* to) noexcept {
  return __fxstat(kStatVersion, file, reinterpret_cast<struct stat*>(to));
}
int lstat64(const char* path, struct stat64* to) noexcept {
  return __lxstat(kStatVersion, path, reinterpret_cast<struct stat*>(to));
}
int fstatat64(int folder, const char* path, struct stat64* to, int flags) noexcept {
  return __fxstatat(kStatVersion, folder, path, reinterpret_cast<struct stat*>(to), flags);
}

// For archives of programs in a shared library (src/media/plugins.cmake).
FILE* anynpu_stderr = stderr;

// 2.33; LLVM asks for statistics.
struct mallinfo2 mallinfo2(void) noexcept {
  return {};
}

// 2.36.
uint32_t arc4random(void) noexcept {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

// 2.30: waits until a time of a clock. Before, condition variables of libstdc++ took the real-time
// clock.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  static std::atomic<Wait> theirs{
      reinterpret_cast<Wait>(dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"))};
  if (Wait wait = theirs.load(std::memory_order_relaxed))
    return wait(condition, mutex, clock, until);
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, until);
  const auto nanoseconds = [](const timespec& t) { return t.tv_sec * 1'000'000'000LL + t.tv_nsec; };
  const auto now = [&](clockid_t of) {
    timespec t{};
    clock_gettime(of, &t);
    return nanoseconds(t);
  };
  const long long end = now(CLOCK_REALTIME) + nanoseconds(*until) - now(clock);
  const timespec real{end / 1'000'000'000, end % 1'000'000'000};
  const int result = pthread_cond_timedwait(condition, mutex, &real);
  // A clock that was set meanwhile: the caller looks at its condition and waits again.
  return result == ETIMEDOUT && now(clock) < nanoseconds(*until) ? 0 : result;
}

// Since 2.34 libc runs the constructors of a program itself, and crt1.o gives it no function for
// that.
using Main = int (*)(int, char**, char**);
#if defined(__x86_64__)
__asm__(".symver start_main, __libc_start_main@GLIBC_2.2.5");
#else
__asm__(".symver start_main, __libc_start_main@GLIBC_2.17");
#endif
int start_main(Main main, int argc, char** argv, int (*init)(int, char**, char**), void (*fini)(),
               void (*rtld_fini)(), void* stack_end);
extern void (*__init_array_start[])(int, char**, char**)
    __attribute__((weak, visibility("hidden")));
extern void (*__init_array_end[])(int, char**, char**) __attribute__((weak, visibility("hidden")));
extern void (*__fini_array_start[])(void) __attribute__((weak, visibility("hidden")));
extern void (*__fini_array_end[])(void) __attribute__((weak, visibility("hidden")));

static int run_constructors(int argc, char** argv, char** environment) {
  for (auto each = __init_array_start; each != __init_array_end; ++each)
    (*each)(argc, argv, environment);
  return 0;
}

int __libc_start_main(Main main, int argc, char** argv, int (*)(int, char**, char**), void (*)(),
                      void (*rtld_fini)(), void* stack_end) {
  // The old version of the function, which a newer libc keeps, runs what it is given, as ever. The
  // loader runs the destructors of the program.
  return start_main(main, argc, argv, run_constructors, nullptr, rtld_fini, stack_end);
}

}  // extern "C"
