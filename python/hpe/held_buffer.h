// SPDX-License-Identifier: Apache-2.0
// An array that a copy uses, referenced until the copy is done. A copy may end on a thread that
// must not take the GIL, so finished ones are kept in a list until the next call that has it.
#pragma once

#include "stable_python.h"

namespace anynpu::pyhpe {

class HeldBuffer {
 public:
  // Null and an exception when `object` is not a C-contiguous buffer with `access`.
  static HeldBuffer* hold(PyObject* object, int access);
  // With the GIL.
  static void release(HeldBuffer* held);
  // From any thread; `held` is the HeldBuffer.
  static void finished(void* held);

  char* data() const { return static_cast<char*>(view_.buf); }
  Py_ssize_t bytes() const { return view_.len; }

 private:
  friend void release_finished_buffers();
  Py_buffer view_{};
  HeldBuffer* next_ = nullptr;
};

// Releases the arrays whose copies are done. With the GIL.
void release_finished_buffers();

}  // namespace anynpu::pyhpe
