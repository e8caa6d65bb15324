// SPDX-License-Identifier: Apache-2.0
// The Python types of this extension and what they share.
#pragma once

#include "stable_python.h"

#include <memory>
#include <vector>

#include "acl/gil.h"
#include "aclruntime/failure.h"
#include "aclruntime/tensor.h"

namespace anynpu::aclruntime {

using pyacl::without_gil;

// Raises RuntimeError "[code][text] message" and returns null; a Ctrl-C that has raised already
// stays.
PyObject* raise(const Failure& failure);
PyObject* none_or_raise(const Failure& failure);

// As tp_free of its type.
inline void free_object(PyObject* self) {
  reinterpret_cast<freefunc>(PyType_GetSlot(Py_TYPE(self), Py_tp_free))(self);
}

// A list of ints; false after an exception.
template <typename Number>
bool numbers(PyObject* list, std::vector<Number>& out) {
  PyObject* fast = PySequence_Fast(list, "a list of ints is needed");
  if (fast == nullptr) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i) {
    const long long value = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast, i));
    if (value == -1 && PyErr_Occurred()) {
      Py_DECREF(fast);
      return false;
    }
    out.push_back(static_cast<Number>(value));
  }
  Py_DECREF(fast);
  return true;
}

template <typename Number>
PyObject* int_list(const std::vector<Number>& values) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(values.size()));
  for (size_t i = 0; list != nullptr && i < values.size(); ++i) {
    PyObject* value = PyLong_FromLongLong(static_cast<long long>(values[i]));
    if (value == nullptr) {
      Py_CLEAR(list);
      break;
    }
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), value);
  }
  return list;
}

// Tensor. The enums of Python that its attributes return are set once by the package.
bool add_tensor_type(PyObject* module);
PyObject* set_enums(PyObject*, PyObject* args);
PyObject* new_tensor(Tensor tensor);
// The tensor inside a Python object; null when it is none (no exception).
const Tensor* tensor_of(PyObject* object);

// Session
bool add_session_type(PyObject* module);

}  // namespace anynpu::aclruntime
