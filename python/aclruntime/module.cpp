// SPDX-License-Identifier: Apache-2.0
// aclruntime._aclruntime: sessions and tensors over the public AscendCL C API.
#include "stable_python.h"

#include "aclruntime/copy_times.h"
#include "aclruntime/log.h"
#include "aclruntime/python_types.h"
#include "aclruntime/runtime.h"

namespace anynpu::aclruntime {

PyObject* raise(const Failure& failure) {
  if (PyErr_Occurred()) return nullptr;  // a wait that Ctrl-C ended
  PyErr_Format(PyExc_RuntimeError, "[%d][%s] %s", failure.code, text_of(failure.code),
               failure.message.c_str());
  return nullptr;
}

PyObject* none_or_raise(const Failure& failure) {
  if (failure || PyErr_Occurred()) return raise(failure);
  Py_RETURN_NONE;
}

namespace {

PyObject* finalize_all(PyObject*, PyObject*) {
  return none_or_raise(without_gil([] { return finalize(); }));
}

PyObject* set_level(PyObject*, PyObject* args) {
  int level;
  if (!PyArg_ParseTuple(args, "i", &level)) return nullptr;
  set_log_level(level);
  Py_RETURN_NONE;
}

PyObject* log_text(PyObject*, PyObject* args) {
  int level;
  const char* text;
  if (!PyArg_ParseTuple(args, "is", &level, &text)) return nullptr;
  log_line(static_cast<LogLevel>(level), text);
  Py_RETURN_NONE;
}

PyObject* times_of(PyObject*, PyObject* args) {
  int kind;
  if (!PyArg_ParseTuple(args, "i", &kind)) return nullptr;
  const auto times = copy_times(kind == 0 ? CopyKind::to_device : CopyKind::to_host);
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(times.size()));
  for (size_t i = 0; list != nullptr && i < times.size(); ++i) {
    PyObject* value = PyFloat_FromDouble(times[i]);
    if (value == nullptr) {
      Py_CLEAR(list);
      break;
    }
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), value);
  }
  return list;
}

PyObject* reset_times(PyObject*, PyObject*) {
  reset_copy_times();
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_enums", set_enums, METH_VARARGS, nullptr},
    {"finalize", finalize_all, METH_NOARGS, nullptr},
    {"set_log_level", set_level, METH_VARARGS, nullptr},
    {"log", log_text, METH_VARARGS, nullptr},
    {"copy_times", times_of, METH_VARARGS, nullptr},
    {"reset_copy_times", reset_times, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "aclruntime._aclruntime",
                          nullptr,
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace anynpu::aclruntime

PyMODINIT_FUNC PyInit__aclruntime() {
  using namespace anynpu::aclruntime;
  anynpu::pyacl::install_interrupt_check();
  PyObject* module = PyModule_Create(&definition);
  if (module != nullptr && (!add_tensor_type(module) || !add_session_type(module))) {
    Py_CLEAR(module);
  }
  return module;
}
