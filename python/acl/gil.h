// SPDX-License-Identifier: Apache-2.0
// Releasing the GIL around a call that waits, and taking it inside a callback. Neither is done in a
// destructor: when the interpreter ends, CPython terminates a thread that asks for the GIL by
// unwinding its stack, which must not pass through a noexcept function.
#pragma once

#include "stable_python.h"

#include <type_traits>

namespace anynpu::pyacl {

// The interpreter is ending: a thread other than the main one must not ask for the GIL.
bool python_ends();

// Never returns when the interpreter is ending and this is not the main thread: such a thread must
// not touch Python again, and ending it could unwind frames that do not expect it.
void park_if_python_ends();

template <typename Call>
auto without_gil(Call&& call) {
  PyThreadState* state = PyEval_SaveThread();
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    park_if_python_ends();
    PyEval_RestoreThread(state);
  } else {
    const auto result = call();
    park_if_python_ends();
    PyEval_RestoreThread(state);
    return result;
  }
}

// For callbacks from C, on any thread, with the GIL held or not. Without an interpreter the call is
// skipped.
template <typename Call>
void with_gil(Call&& call) {
  if (!Py_IsInitialized()) return;
  park_if_python_ends();
  const PyGILState_STATE state = PyGILState_Ensure();
  call();
  PyGILState_Release(state);
}

// Calls a Python function from a callback; an exception is printed, because nothing can catch it.
// Takes over the reference to `arguments` (a tuple, may be null after a failure to build it).
// Returns a new reference, or null after an exception.
PyObject* call_back(PyObject* function, PyObject* arguments);

// Lets waits on the main thread run Python's signal handlers, so that Ctrl-C ends them.
void install_interrupt_check();

}  // namespace anynpu::pyacl
