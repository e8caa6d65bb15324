// SPDX-License-Identifier: Apache-2.0
#include "acl/gil.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "anynpu.h"

namespace anynpu::pyacl {

bool python_ends() { return Py_IsFinalizing != nullptr ? Py_IsFinalizing() : _Py_IsFinalizing(); }

namespace {

bool on_main_thread() {
  thread_local const bool main = syscall(SYS_gettid) == getpid();
  return main;
}

int run_signal_handlers() {
  if (!Py_IsInitialized() || python_ends()) return 0;
  const PyGILState_STATE state = PyGILState_Ensure();
  const bool raised = PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  return raised;
}

}  // namespace

void park_if_python_ends() {
  if (!python_ends() || on_main_thread()) [[likely]]
    return;
  for (;;) pause();
}

PyObject* call_back(PyObject* function, PyObject* arguments) {
  PyObject* result = arguments != nullptr ? PyObject_CallObject(function, arguments) : nullptr;
  Py_XDECREF(arguments);
  if (result == nullptr) PyErr_WriteUnraisable(function);
  return result;
}

void install_interrupt_check() { anynpu_set_interrupt_check(run_signal_handlers); }

}  // namespace anynpu::pyacl
