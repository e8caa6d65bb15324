// SPDX-License-Identifier: Apache-2.0
// Functions of acl.op that cannot be generated: list attributes, which programs pass with and
// without their length, and the selectors of custom operators.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "wrappers.h"

namespace anynpu::pyacl {
namespace {

// (attr, name, values) or (attr, name, count, values): where the values are, or null.
PyObject* list_argument(const Function& self, PyObject* const* argv, Py_ssize_t argc) {
  if (argc < 4 || argv[3] == Py_None) return argv[2];
  int64_t count = 0;
  if (!take({self, 2, "num_values"}, argv[2], &count)) return nullptr;
  const Py_ssize_t length = PySequence_Check(argv[3]) ? PySequence_Size(argv[3]) : -1;
  if (length == count) return argv[3];
  if (!PyErr_Occurred()) {
    PyErr_Format(PyExc_ValueError, "%s: num_values is %lld, the list has %zd items", self.name,
                 static_cast<long long>(count), length);
  }
  return nullptr;
}

// What every set_attr_list_* is given.
struct ListCall {
  void* handle{};
  const char* name{};
  PyObject* list = nullptr;

  // False when an exception is set.
  bool read(const Function& self, PyObject* const* argv, Py_ssize_t argc) {
    if (!self.takes(argc) || !take({self, 0, "attr"}, argv[0], &handle) ||
        !take({self, 1, "attr_name"}, argv[1], &name))
      return false;
    list = list_argument(self, argv, argc);
    return list != nullptr;
  }
  aclopAttr* attr() const { return as<aclopAttr*>(handle); }
  static ArgumentSource place(const Function& self, Py_ssize_t argc) {
    return {self, argc > 3 ? 3 : 2, "attr_value"};
  }
};

template <typename T, typename C>
PyObject* set_list(const Function& self, PyObject* const* argv, Py_ssize_t argc,
                   aclError (*set)(aclopAttr*, const char*, int, C)) {
  ListCall call;
  List<T> values;
  if (!call.read(self, argv, argc) || !take(call.place(self, argc), call.list, &values))
    return nullptr;
  return give(set(call.attr(), call.name, values.template count<int>(),
                  reinterpret_cast<C>(values.data())));
}

// The items of a sequence, one call each; false when an exception is set.
template <typename Each>
bool for_each_item(const ArgumentSource& at, PyObject* from, Each&& each) {
  if (!PySequence_Check(from) || PyUnicode_Check(from) || PyBytes_Check(from))
    return fail_type(at, from, "a list");
  PyObject* items = PySequence_Fast(from, "not a sequence");
  if (items == nullptr) return false;
  bool good = true;
  for (Py_ssize_t i = 0; good && i < PySequence_Fast_GET_SIZE(items); ++i) {
    good = each(PySequence_Fast_GET_ITEM(items, i));
  }
  Py_DECREF(items);
  return good;
}

// C calls a selector without saying of which operator; so each has a function of its own.
constexpr size_t kMostSelectors = 64;
struct Selector {
  PyObject* function = nullptr;
  std::string type;
};
std::array<Selector, kMostSelectors> selectors;

PyObject* handles_as_list(int count, const aclTensorDesc* const* handles) {
  PyObject* list = PyList_New(count);
  for (int i = 0; list != nullptr && i < count; ++i) PyList_SetItem(list, i, to_python(handles[i]));
  return list;
}

aclError run_selector(size_t slot, int inputs, const aclTensorDesc* const* input_desc, int outputs,
                      const aclTensorDesc* const* output_desc, const aclopAttr* attr,
                      aclopKernelDesc* kernel) {
  aclError answer = ACL_ERROR_FAILURE;
  with_gil([&] {
    PyObject* function = selectors[slot].function;
    if (function == nullptr) return;
    Py_INCREF(function);
    PyObject* arguments =
        Py_BuildValue("(iNiNNN)", inputs, handles_as_list(inputs, input_desc), outputs,
                      handles_as_list(outputs, output_desc), to_python(attr), to_python(kernel));
    PyObject* result = call_back(function, arguments);
    if (result != nullptr) answer = ACL_SUCCESS;
    if (result != nullptr && PyLong_Check(result)) {
      answer = static_cast<aclError>(PyLong_AsLong(result));
      PyErr_Clear();
    }
    Py_XDECREF(result);
    Py_DECREF(function);
  });
  return answer;
}

template <size_t slot>
aclError selector_function(int inputs, const aclTensorDesc* const input_desc[], int outputs,
                           const aclTensorDesc* const output_desc[], const aclopAttr* attr,
                           aclopKernelDesc* kernel) {
  return run_selector(slot, inputs, input_desc, outputs, output_desc, attr, kernel);
}

template <size_t... slots>
constexpr std::array<aclopCompileFunc, kMostSelectors> make_functions(
    std::index_sequence<slots...>) {
  return {selector_function<slots>...};
}
constexpr auto kSelectorFunctions = make_functions(std::make_index_sequence<kMostSelectors>());

size_t selector_slot(const char* type) {
  size_t free = kMostSelectors;
  for (size_t i = kMostSelectors; i-- > 0;) {
    if (selectors[i].function != nullptr && selectors[i].type == type) return i;
    if (selectors[i].function == nullptr) free = i;
  }
  return free;
}

PyObject* set_workspaces(const Function& self, const char* name, PyObject* const* argv,
                         Py_ssize_t argc) {
  if (!self.takes(argc)) return nullptr;
  void* desc{};
  int32_t count{};
  List<size_t> sizes;
  if (!take({self, 0, "kernel_desc"}, argv[0], &desc) ||
      !take({self, 1, "num_workspaces"}, argv[1], &count))
    return nullptr;
  if (PyLong_Check(argv[2])) {  // the address of the sizes
    void* address{};
    if (!take({self, 2, name}, argv[2], &address)) return nullptr;
    return give(aclopSetKernelWorkspaceSizes(as<aclopKernelDesc*>(desc), count,
                                             static_cast<size_t*>(address)));
  }
  if (!take({self, 2, name}, argv[2], &sizes)) return nullptr;
  if (count < 0 || static_cast<size_t>(count) != sizes.size()) {
    PyErr_Format(PyExc_ValueError, "%s: num_workspaces is %d, the list has %zu items", self.name,
                 count, sizes.size());
    return nullptr;
  }
  return give(aclopSetKernelWorkspaceSizes(as<aclopKernelDesc*>(desc), count, sizes.data()));
}

}  // namespace

PyObject* op_set_attr_list_bool(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_list<uint8_t>(functions::op_set_attr_list_bool, argv, argc, aclopSetAttrListBool);
}
PyObject* op_set_attr_list_int(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_list<int64_t>(functions::op_set_attr_list_int, argv, argc, aclopSetAttrListInt);
}
PyObject* op_set_attr_list_float(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_list<float>(functions::op_set_attr_list_float, argv, argc, aclopSetAttrListFloat);
}
PyObject* op_set_attr_list_data_type(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_list<int32_t>(functions::op_set_attr_list_data_type, argv, argc,
                           aclopSetAttrListDataType);
}

PyObject* op_set_attr_list_string(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::op_set_attr_list_string;
  ListCall call;
  if (!call.read(self, argv, argc)) return nullptr;
  const ArgumentSource at = call.place(self, argc);
  std::vector<std::string> texts;
  const bool good = for_each_item(at, call.list, [&](PyObject* item) {
    const char* text{};
    if (!take(at, item, &text)) return false;
    texts.emplace_back(text);
    return true;
  });
  if (!good) return nullptr;
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return give(aclopSetAttrListString(call.attr(), call.name, static_cast<int>(texts.size()),
                                     pointers.data()));
}

PyObject* op_set_attr_list_list_int(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::op_set_attr_list_list_int;
  ListCall call;
  if (!call.read(self, argv, argc)) return nullptr;
  const ArgumentSource at = call.place(self, argc);
  std::vector<std::vector<int64_t>> lists;
  const bool good = for_each_item(at, call.list, [&](PyObject* row) {
    lists.emplace_back();
    return for_each_item(at, row, [&](PyObject* item) {
      lists.back().push_back(0);
      return take(at, item, &lists.back().back());
    });
  });
  if (!good) return nullptr;
  std::vector<const int64_t*> pointers;
  std::vector<int> counts;
  for (const auto& row : lists) {
    pointers.push_back(row.data());
    counts.push_back(static_cast<int>(row.size()));
  }
  return give(aclopSetAttrListListInt(call.attr(), call.name, static_cast<int>(lists.size()),
                                      counts.data(), pointers.data()));
}

PyObject* op_infer_shape(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::op_infer_shape;
  if (!self.takes(argc)) return nullptr;
  const char* type{};
  List<void*> input_desc, inputs, output_desc;
  int32_t outputs{};
  void* attr{};
  if (!take({self, 0, "op_type"}, argv[0], &type) ||
      !take({self, 1, "in_desc_list"}, argv[1], &input_desc) ||
      !take({self, 2, "in_list"}, argv[2], &inputs) ||
      !take({self, 3, "num_outputs"}, argv[3], &outputs) ||
      !take({self, 4, "out_desc_list"}, argv[4], &output_desc) ||
      !take({self, 5, "attr"}, argv[5], &attr))
    return nullptr;
  if (!same_length(self, "in_desc_list", input_desc.size(), "in_list", inputs.size()) ||
      !same_length(self, "num_outputs", static_cast<size_t>(std::max(outputs, 0)), "out_desc_list",
                   output_desc.size()))
    return nullptr;
  return give(aclopInferShape(
      type, input_desc.count<int>(), reinterpret_cast<aclTensorDesc**>(input_desc.data()),
      reinterpret_cast<aclDataBuffer**>(inputs.data()), outputs,
      reinterpret_cast<aclTensorDesc**>(output_desc.data()), as<aclopAttr*>(attr)));
}

PyObject* op_create_kernel(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::op_create_kernel;
  if (!self.takes(argc)) return nullptr;
  const char *type{}, *id{}, *name{};
  void *data{}, *deallocator{};
  int32_t size{}, engine{};
  if (!take({self, 0, "op_type"}, argv[0], &type) || !take({self, 1, "kernel_id"}, argv[1], &id) ||
      !take({self, 2, "kernel_name"}, argv[2], &name) ||
      !take({self, 3, "bin_data"}, argv[3], &data) ||
      !take({self, 4, "bin_size"}, argv[4], &size) ||
      !take({self, 5, "engine_type"}, argv[5], &engine) ||
      !take_or_null({self, 6, "deallocator"}, argv[6], &deallocator))
    return nullptr;
  return give(aclopCreateKernel(type, id, name, data, size, static_cast<aclopEngineType>(engine),
                                as<aclDataDeallocator>(deallocator)));
}

PyObject* op_register_compile_func(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::op_register_compile_func;
  if (!self.takes(argc)) return nullptr;
  const char* type{};
  if (!take({self, 0, "op_type"}, argv[0], &type)) return nullptr;
  if (!PyCallable_Check(argv[1])) {
    fail_type({self, 1, "func"}, argv[1], "a function");
    return nullptr;
  }
  const size_t slot = selector_slot(type);
  if (slot == kMostSelectors) {
    PyErr_Format(PyExc_ValueError, "%s: %zu operators have selectors, no more are possible",
                 self.name, kMostSelectors);
    return nullptr;
  }
  const aclError ret = aclopRegisterCompileFunc(type, kSelectorFunctions[slot]);
  if (ret == ACL_SUCCESS) {
    Py_INCREF(argv[1]);
    PyObject* old = std::exchange(selectors[slot].function, argv[1]);
    selectors[slot].type = type;
    Py_XDECREF(old);
  }
  return give(ret);
}

PyObject* op_unregister_compile_func(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::op_unregister_compile_func;
  if (!self.takes(argc)) return nullptr;
  const char* type{};
  if (!take({self, 0, "op_type"}, argv[0], &type)) return nullptr;
  const aclError ret = aclopUnregisterCompileFunc(type);
  const size_t slot = selector_slot(type);
  if (ret == ACL_SUCCESS && slot < kMostSelectors && selectors[slot].function != nullptr) {
    PyObject* old = std::exchange(selectors[slot].function, nullptr);
    selectors[slot].type.clear();
    Py_XDECREF(old);
  }
  return give(ret);
}

PyObject* op_set_kernel_workspace_sizes(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_workspaces(functions::op_set_kernel_workspace_sizes, "workspace_sizes", argv, argc);
}
PyObject* op_set_kernel_workspaces_sizes(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_workspaces(functions::op_set_kernel_workspaces_sizes, "workspace_sizes_ptr", argv,
                        argc);
}

}  // namespace anynpu::pyacl
