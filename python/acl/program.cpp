// SPDX-License-Identifier: Apache-2.0
#include "stable_python.h"

#include "acl/program.h"

#include "anynpu.h"

namespace anynpu::pyacl {

void tell_program_path() {
  PyObject* arguments = PySys_GetObject("argv");  // borrowed; absent in some embedded interpreters
  if (arguments == nullptr || !PyList_Check(arguments) || PyList_Size(arguments) == 0) return;
  PyObject* program = PyList_GetItem(arguments, 0);
  const char* path = PyUnicode_Check(program) ? PyUnicode_AsUTF8AndSize(program, nullptr) : nullptr;
  if (path != nullptr) {
    anynpu_set_program_path(path);
  } else {
    PyErr_Clear();  // a path that is no UTF-8: the library finds out by itself
  }
}

}  // namespace anynpu::pyacl
