// SPDX-License-Identifier: Apache-2.0
// The extension module acl._acl: all functions of acl, and one submodule each for acl.rt, acl.mdl,
// ... which are also entered in sys.modules, so that `import acl.rt` works. Starts no thread, opens
// nothing.
#include "acl/program.h"
#include "anynpu.h"
#include "wrappers.h"

namespace anynpu::pyacl {
namespace {

// Adds every name of the module to its __all__.
bool list_names(PyObject* module) {
  PyObject* names = PyList_New(0);
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t at = 0;
  bool ok = names != nullptr;
  while (ok && PyDict_Next(PyModule_GetDict(module), &at, &key, &value)) {
    const bool is_public = PyCFunction_Check(value) || PyModule_Check(value);
    if (is_public) ok = PyList_Append(names, key) == 0;
  }
  ok = ok && PyObject_SetAttrString(module, "__all__", names) == 0;
  Py_XDECREF(names);
  return ok;
}

bool add_submodule(PyObject* parent, const Submodule& description) {
  PyObject* module = PyModule_New(description.name);
  if (module == nullptr) return false;
  const char* short_name = std::strrchr(description.name, '.') + 1;
  const bool ok = PyModule_AddFunctions(module, description.methods) == 0 && list_names(module) &&
                  PyDict_SetItemString(PyImport_GetModuleDict(), description.name, module) == 0 &&
                  PyObject_SetAttrString(parent, short_name, module) == 0;
  Py_DECREF(module);
  return ok;
}

// Functions say that they live in acl: names in tracebacks and in help() are those a user types.
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "acl", nullptr, -1, kAclMethods, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace anynpu::pyacl

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__acl() {
  using namespace anynpu::pyacl;
  PyObject* module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  anynpu_acl_follow_guide();
  for (const Submodule& submodule : kSubmodules) {
    if (!add_submodule(module, submodule)) {
      Py_DECREF(module);
      return nullptr;
    }
  }
  if (!list_names(module)) {
    Py_DECREF(module);
    return nullptr;
  }
  install_interrupt_check();
  tell_program_path();
  install_caller_place();
  return module;
}
