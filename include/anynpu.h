/* SPDX-License-Identifier: Apache-2.0 */
/* C functions for language bindings that the vendor's API does not have. */
#ifndef ANYNPU_H_
#define ANYNPU_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every blocking wait on the process's main thread calls `check` each 50 ms, with no lock held, and
 * gives up when it returns non-zero. NULL removes it. */
__attribute__((visibility("default"))) void anynpu_set_interrupt_check(int (*check)(void));

/* Non-zero when the process can read all of these bytes. */
__attribute__((visibility("default"))) int anynpu_probe_readable(const void* address, size_t bytes);

/* In libascendcl.so: keeps the message of a failure that happened in the binding itself, so that
 * aclGetRecentErrMsg gives it as for every other function. Returns `code`. */
__attribute__((visibility("default"))) int anynpu_acl_fail(const char* function, int code,
                                                           const char* message);

/* In libascendcl.so: the message of the calling thread's most recent failure, which stays for
 * aclGetRecentErrMsg; "" when there was none. Valid until the thread's next call. */
__attribute__((visibility("default"))) const char* anynpu_acl_last_message(void);

/* In libascendcl.so, for checkers: the binding gave the address of the memory of one of its
 * language's objects to the program. Does nothing by itself. */
__attribute__((visibility("default"))) void anynpu_acl_note_buffer(void* owner,
                                                                   const void* address);

/* In libascendcl.so: aclrtLaunchCallback for callbacks whose user data has an owner. Calls
 * release(user_data) once: after fn has run, or when it will never run (also when the launch
 * fails). release may come from any thread and with locks held, so it must neither wait nor call
 * the API. */
__attribute__((visibility("default"))) int anynpu_acl_launch_callback(void (*fn)(void*),
                                                                      void* user_data,
                                                                      void (*release)(void*),
                                                                      int block_type, void* stream);

/* In libascendcl.so, for checkers: the next kernel that this thread launches calls done(data, ...)
 * once when it has run, from any thread: which allocations it was given, and which bytes of them it
 * changed (none when it failed). A launch that never runs does not call. */
typedef struct anynpu_kernel_piece {
  const void* address;
  size_t bytes;
  int changed; /* 0: an allocation */
} anynpu_kernel_piece;
__attribute__((visibility("default"))) void anynpu_acl_watch_kernel(
    void (*done)(void* data, const anynpu_kernel_piece* pieces, size_t count), void* data);

/* In libascendcl.so: from now on the process has the rules of the guide of pyACL where they differ
 * from those of the runtime: asynchronous copies inside the host fail at the next synchronize, and
 * those with pageable memory do not wait. */
__attribute__((visibility("default"))) void anynpu_acl_follow_guide(void);

/* In libhpert.so: the message about the calling thread's most recent failure, beside the fixed one
 * of stcGetErrorString. Valid until the thread's next failure. */
__attribute__((visibility("default"))) const char* anynpu_hpe_last_sentence(void);

/* In libhpert.so: stcMemcpyAsync for host memory that has an owner. Calls release(data) once: when
 * the copy ran, or when it will never run (also when the call fails). release may come from any
 * thread and with locks held, so it must neither wait nor call the API. */
__attribute__((visibility("default"))) int anynpu_hpe_memcpy_async(void* dst, const void* src,
                                                                   size_t count, int kind,
                                                                   void* stream,
                                                                   void (*release)(void*),
                                                                   void* data);

/* In libhpert.so: end a stream or module without waiting; requests in flight finish. */
__attribute__((visibility("default"))) void anynpu_hpe_drop_stream(void* stream);
__attribute__((visibility("default"))) void anynpu_hpe_drop_module(void* module);

/* In libhpert.so: waits for the work of every device that was used; non-zero when interrupted. */
__attribute__((visibility("default"))) int anynpu_hpe_drain(void);

/* For the line that a failed call prints (ANYNPU_ERRORS): `place` writes where the program calls
 * from, such as "app.py:12", into `text` and returns its length; 0 when the thread runs no code of
 * the binding's language. Called after the call has failed, with no lock held. NULL removes it. */
__attribute__((visibility("default"))) void anynpu_set_caller_place(size_t (*place)(char* text,
                                                                                    size_t size));

/* The script or executable that runs: relative paths of the API start in its folder. Without this
 * call, or when the path does not exist, the command line of the process decides. */
__attribute__((visibility("default"))) void anynpu_set_program_path(const char* path);

#ifdef __cplusplus
}
#endif

#endif
