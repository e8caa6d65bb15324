// SPDX-License-Identifier: Apache-2.0
// acl.app_log: the C function is printf-like and wants the caller's place, which Python knows.
#include <Python.h>
#include <frameobject.h>

#include "wrappers.h"

namespace anynpu::pyacl {

namespace {

PyCodeObject* code_of(PyFrameObject* frame) {  // a new reference
#if PY_VERSION_HEX >= 0x03090000
  return PyFrame_GetCode(frame);
#else
  Py_INCREF(frame->f_code);
  return frame->f_code;
#endif
}

}  // namespace

PyObject* acl_app_log(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::acl_app_log;
  if (!self.takes(argc)) return nullptr;
  int32_t level{};
  const char* message{};
  if (!take({self, 0, "log_level"}, argv[0], &level) ||
      !take({self, 1, "message"}, argv[1], &message))
    return nullptr;

  PyFrameObject* frame = PyEval_GetFrame();  // borrowed; null without Python code on the stack
  const char* function = "";
  const char* file = "";
  uint32_t line = 0;
  PyCodeObject* code = nullptr;
  if (frame != nullptr) {
    code = code_of(frame);
    line = static_cast<uint32_t>(PyFrame_GetLineNumber(frame));
    function = PyUnicode_AsUTF8(code->co_name);
    file = PyUnicode_AsUTF8(code->co_filename);
    PyErr_Clear();  // a name that is no UTF-8 is left out
  }
  aclAppLog(static_cast<aclLogLevel>(level), function ? function : "", file ? file : "", line, "%s",
            message);
  Py_XDECREF(code);
  Py_RETURN_NONE;
}

}  // namespace anynpu::pyacl
