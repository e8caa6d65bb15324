// SPDX-License-Identifier: Apache-2.0
// The source line of the caller: the innermost frame outside of the packages built on acl.
#include "stable_python.h"

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "acl/gil.h"
#include "acl/program.h"
#include "anynpu.h"

namespace anynpu::pyacl {

namespace {

// Files of the packages that programs call and that call acl.
bool is_of_a_package(const char* file) {
  for (const char* folder : {"/ais_bench/infer/", "/aclruntime/", "/anynpu/"})
    if (std::strstr(file, folder) != nullptr) return true;
  return false;
}

// "app.py:12", written into `text`; 0 for a frame of a package.
size_t write_place(PyFrameObject* frame, char* text, size_t size) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  const char* file = code_text(code, "co_filename");
  int length = 0;
  if (file != nullptr && !is_of_a_package(file))
    length = std::snprintf(text, size, "%s:%d", file, PyFrame_GetLineNumber(frame));
  Py_DECREF(code);
  if (length <= 0) return 0;
  return static_cast<size_t>(length) < size ? static_cast<size_t>(length) : size - 1;
}

// With the GIL held.
size_t find_place(char* text, size_t size) {
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  size_t length = 0;
  while (frame != nullptr && length == 0) {
    length = write_place(frame, text, size);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return length;
}

// Called by the library, with the GIL held or not; an exception that is under way stays.
size_t caller_place(char* text, size_t size) {
  if (!Py_IsInitialized() || PyGILState_GetThisThreadState() == nullptr) return 0;
  if (!PyGILState_Check() && python_ends()) return 0;  // asking for the GIL would end this thread
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  const size_t length = find_place(text, size);
  PyErr_Restore(type, value, trace);
  PyGILState_Release(state);
  return length;
}

}  // namespace

void install_caller_place() { anynpu_set_caller_place(caller_place); }

}  // namespace anynpu::pyacl
