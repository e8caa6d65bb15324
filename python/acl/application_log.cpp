// SPDX-License-Identifier: Apache-2.0
// acl.app_log: the C function is printf-like and wants the caller's place, which Python knows.
#include "stable_python.h"

#include "wrappers.h"

namespace anynpu::pyacl {

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
    code = PyFrame_GetCode(frame);  // a new reference
    line = static_cast<uint32_t>(PyFrame_GetLineNumber(frame));
    function = code_text(code, "co_name");
    file = code_text(code, "co_filename");
  }
  aclAppLog(static_cast<aclLogLevel>(level), function ? function : "", file ? file : "", line, "%s",
            message);
  Py_XDECREF(code);
  Py_RETURN_NONE;
}

}  // namespace anynpu::pyacl
