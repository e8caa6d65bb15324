// SPDX-License-Identifier: Apache-2.0
// acl.util.start_thread and stop_thread: threads of the operating system that run a Python
// function, whose ids (pthread_self) are what acl.rt.subscribe_report takes.
#include <pthread.h>

#include <cerrno>
#include <ctime>
#include <set>

#include "anynpu.h"
#include "wrappers.h"

namespace anynpu::pyacl {
namespace {

struct Start {
  PyObject* function;
  PyObject* argument;
};

// Threads that were started and not yet joined. Guarded by the GIL; never destroyed, because
// threads may outlive static destructors.
std::set<pthread_t>& joinable() {
  static auto* threads = new std::set<pthread_t>();
  return *threads;
}

void drop(Start* start) {
  Py_DECREF(start->function);
  Py_DECREF(start->argument);
  delete start;
}

void* run_thread(void* argument) {
  with_gil([argument] {
    auto* start = static_cast<Start*>(argument);
    Py_XDECREF(call_back(start->function, Py_BuildValue("(O)", start->argument)));
    drop(start);
  });
  return nullptr;
}

// Waits a moment for the thread to end. 0: joined; ETIMEDOUT: still running.
int join_for_a_moment(pthread_t thread) {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 50'000'000;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  return pthread_timedjoin_np(thread, nullptr, &until);
}

}  // namespace

PyObject* util_start_thread(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::util_start_thread;
  // The messages of pyACL, which programs compare.
  if (argc != 2)
    return PyErr_Format(PyExc_TypeError, "function takes exactly 2 arguments (%zd given)", argc);
  if (!PyCallable_Check(argv[0]))
    return PyErr_Format(PyExc_TypeError, "parameter must be callable");
  auto* start = new (std::nothrow) Start{argv[0], argv[1]};
  if (start == nullptr) return PyErr_NoMemory();
  Py_INCREF(start->function);
  Py_INCREF(start->argument);
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, run_thread, start) != 0) {
    drop(start);
    return give(uint64_t{0}, anynpu_acl_fail(self.name, ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                                             "the system starts no further thread; stop others "
                                             "with acl.util.stop_thread"));
  }
  joinable().insert(thread);
  return give(static_cast<uint64_t>(thread), aclError{ACL_SUCCESS});
}

PyObject* util_stop_thread(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::util_stop_thread;
  if (!self.takes(argc)) return nullptr;
  uint64_t id{};
  if (!take({self, 0, "thread_id"}, argv[0], &id)) return nullptr;
  const auto thread = static_cast<pthread_t>(id);
  // Out of the set while waiting, so that two callers never join one thread. A thread cannot wait
  // for itself, and an id that is not there was never started or is stopped already.
  if (pthread_equal(thread, pthread_self()) || joinable().erase(thread) == 0)
    return give(anynpu_acl_fail(self.name, ACL_ERROR_INVALID_PARAM,
                                "no thread of acl.util.start_thread has this id, or it is the "
                                "calling one, or it was stopped already; expected an id that "
                                "start_thread returned, once, from another thread"));
  for (;;) {
    const int outcome = without_gil([thread] { return join_for_a_moment(thread); });
    if (outcome == 0) return give(aclError{ACL_SUCCESS});
    if (outcome != ETIMEDOUT)
      return give(anynpu_acl_fail(self.name, ACL_ERROR_FAILURE, "the thread cannot be waited for"));
    if (PyErr_CheckSignals() != 0) {  // Ctrl-C: the thread goes on and can be stopped again
      joinable().insert(thread);
      return nullptr;
    }
  }
}

}  // namespace anynpu::pyacl
