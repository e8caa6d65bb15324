// SPDX-License-Identifier: Apache-2.0
// acl.get_recent_err_msg: a text in any case, so that programs can search it.
#include "wrappers.h"

namespace anynpu::pyacl {

PyObject* acl_get_recent_err_msg(PyObject*, PyObject* const*, Py_ssize_t argc) {
  constexpr const Function& self = functions::acl_get_recent_err_msg;
  if (!self.takes(argc)) return nullptr;
  const char* message = aclGetRecentErrMsg();
  return give(message != nullptr ? message : "");
}

}  // namespace anynpu::pyacl
