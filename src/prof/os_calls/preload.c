// SPDX-License-Identifier: Apache-2.0
// libanynpu_os_calls.so, which `msprof --host-sys=osrt` loads before a program: calls of the C
// library that enter or may wait in the operating system go through here, and while a session asks
// for them their times are handed to it (src/prof/os_calls.h). Locks that are free are not told.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct anynpu_os_hooks {
  uint64_t (*begin)(void);                        // 0: not recorded
  void (*end)(const char* name, uint64_t begin);  // name is a literal
};

static _Atomic(const struct anynpu_os_hooks*) g_hooks;
static __thread int g_inside __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) void anynpu_os_calls_set(
    const struct anynpu_os_hooks* hooks) {
  atomic_store(&g_hooks, hooks);
}

static uint64_t begin(const struct anynpu_os_hooks* hooks) {
  if (!hooks || g_inside) return 0;
  g_inside = 1;
  const uint64_t at = hooks->begin();
  g_inside = 0;
  return at;
}

static void end(const struct anynpu_os_hooks* hooks, const char* name, uint64_t at) {
  if (!at) return;
  const int saved = errno;
  g_inside = 1;
  hooks->end(name, at);
  g_inside = 0;
  errno = saved;
}

static void* find(const char* name, const char* version) {
  void* found = version ? dlvsym(RTLD_NEXT, name, version) : 0;
  return found ? found : dlsym(RTLD_NEXT, name);
}

#define REAL(type, name, parameters, version)                         \
  static _Atomic(void*) known;                                        \
  void* address = atomic_load(&known);                                \
  if (!address) atomic_store(&known, address = find(#name, version)); \
  type(*real) parameters = (type(*) parameters)address

#define CALL_AT(type, name, parameters, arguments, version)      \
  __attribute__((visibility("default"))) type name parameters {  \
    REAL(type, name, parameters, version);                       \
    const struct anynpu_os_hooks* hooks = atomic_load(&g_hooks); \
    const uint64_t at = begin(hooks);                            \
    const type result = real arguments;                          \
    end(hooks, #name, at);                                       \
    return result;                                               \
  }
#define CALL(type, name, parameters, arguments) CALL_AT(type, name, parameters, arguments, 0)

CALL(ssize_t, read, (int a, void* b, size_t c), (a, b, c))
CALL(ssize_t, write, (int a, const void* b, size_t c), (a, b, c))
CALL(ssize_t, pread, (int a, void* b, size_t c, off_t d), (a, b, c, d))
CALL(ssize_t, pwrite, (int a, const void* b, size_t c, off_t d), (a, b, c, d))
CALL(int, close, (int a), (a))
CALL(int, fsync, (int a), (a))
CALL(void*, mmap, (void* a, size_t b, int c, int d, int e, off_t f), (a, b, c, d, e, f))
CALL(int, munmap, (void* a, size_t b), (a, b))
CALL(int, poll, (struct pollfd * a, nfds_t b, int c), (a, b, c))
CALL(int, select, (int a, fd_set* b, fd_set* c, fd_set* d, struct timeval* e), (a, b, c, d, e))
CALL(int, epoll_wait, (int a, struct epoll_event* b, int c, int d), (a, b, c, d))
CALL(int, nanosleep, (const struct timespec* a, struct timespec* b), (a, b))
CALL(int, clock_nanosleep, (clockid_t a, int b, const struct timespec* c, struct timespec* d),
     (a, b, c, d))
CALL(int, usleep, (useconds_t a), (a))
CALL(int, sched_yield, (void), ())
CALL(ssize_t, recv, (int a, void* b, size_t c, int d), (a, b, c, d))
CALL(ssize_t, send, (int a, const void* b, size_t c, int d), (a, b, c, d))
CALL(int, connect, (int a, const struct sockaddr* b, socklen_t c), (a, b, c))
CALL(int, accept, (int a, struct sockaddr* b, socklen_t* c), (a, b, c))
CALL(pid_t, waitpid, (pid_t a, int* b, int c), (a, b, c))
CALL(int, sem_wait, (sem_t * a), (a))
CALL(int, sem_timedwait, (sem_t * a, const struct timespec* b), (a, b))
CALL(int, pthread_create, (pthread_t * a, const pthread_attr_t* b, void* (*c)(void*), void* d),
     (a, b, c, d))
CALL(int, pthread_join, (pthread_t a, void** b), (a, b))
// The symbols without a version are those of an older, smaller condition variable.
CALL_AT(int, pthread_cond_wait, (pthread_cond_t * a, pthread_mutex_t* b), (a, b), "GLIBC_2.3.2")
CALL_AT(int, pthread_cond_timedwait,
        (pthread_cond_t * a, pthread_mutex_t* b, const struct timespec* c), (a, b, c),
        "GLIBC_2.3.2")

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t* mutex) {
  REAL(int, pthread_mutex_lock, (pthread_mutex_t*), 0);
  const struct anynpu_os_hooks* hooks = atomic_load(&g_hooks);
  if (!hooks || g_inside) return real(mutex);
  if (pthread_mutex_trylock(mutex) == 0) return 0;
  const uint64_t at = begin(hooks);
  const int result = real(mutex);
  end(hooks, "pthread_mutex_lock", at);
  return result;
}
