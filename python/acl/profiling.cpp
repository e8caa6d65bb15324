// SPDX-License-Identifier: Apache-2.0
// acl.prof.get_op_name_v2 and get_op_type_v2 ask for the length of the text themselves.
#include <string>

#include "wrappers.h"

namespace anynpu::pyacl {

namespace {

using LengthOf = aclError (*)(const void*, size_t, uint32_t, size_t*);
using TextOf = aclError (*)(const void*, size_t, uint32_t, char*, size_t);

PyObject* text_v2(const Function& self, LengthOf length_of, TextOf text_of, PyObject* const* argv,
                  Py_ssize_t argc) {
  if (!self.takes(argc)) return nullptr;
  void* data{};
  size_t bytes{};
  uint32_t index{};
  if (!take({self, 0, "op_info"}, argv[0], &data) ||
      !take({self, 1, "op_info_len"}, argv[1], &bytes) ||
      !take({self, 2, "index"}, argv[2], &index))
    return nullptr;
  size_t length = 0;
  aclError ret = length_of(data, bytes, index, &length);
  if (ret != ACL_SUCCESS) return Py_BuildValue("(Oi)", Py_None, ret);
  std::string text(length, '\0');
  ret = text_of(data, bytes, index, text.data(), length);
  return Py_BuildValue("(si)", text.c_str(), ret);
}

}  // namespace

PyObject* prof_get_op_name_v2(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return text_v2(functions::prof_get_op_name_v2, aclprofGetOpNameLen, aclprofGetOpName, argv, argc);
}

PyObject* prof_get_op_type_v2(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return text_v2(functions::prof_get_op_type_v2, aclprofGetOpTypeLen, aclprofGetOpType, argv, argc);
}

}  // namespace anynpu::pyacl
