// SPDX-License-Identifier: Apache-2.0
// Functions whose value has another C type for each attribute: model options, stream attributes,
// group details, and the list of attributes.
#include "wrappers.h"

namespace anynpu::pyacl {
namespace {

// What an option of a model points at.
enum class OptionType { int32, size, address, text };

OptionType option_type(aclmdlConfigAttr attribute) {
  switch (attribute) {
    case ACL_MDL_PRIORITY_INT32:
    case ACL_MDL_WITHOUT_GRAPH_INT32:
    case ACL_NPU_PERF_MODE:
      return OptionType::int32;
    case ACL_MDL_PATH_PTR:
    case ACL_MDL_WEIGHT_PATH_PTR:
      return OptionType::text;
    case ACL_MDL_MEM_ADDR_PTR:
    case ACL_MDL_WEIGHT_ADDR_PTR:
    case ACL_MDL_WORKSPACE_ADDR_PTR:
    case ACL_MDL_INPUTQ_ADDR_PTR:
    case ACL_MDL_OUTPUTQ_ADDR_PTR:
    case ACL_MDL_MODEL_DESC_PTR:
    case ACL_MDL_KERNEL_PTR:
    case ACL_MDL_KERNEL_ARGS_PTR:
    case ACL_MDL_STATIC_TASK_PTR:
    case ACL_MDL_DYNAMIC_TASK_PTR:
    case ACL_MDL_FIFO_PTR:
      return OptionType::address;
    default:
      return OptionType::size;
  }
}

OptionType option_type(aclmdlExecConfigAttr attribute) {
  switch (attribute) {
    case ACL_MDL_STREAM_SYNC_TIMEOUT:
    case ACL_MDL_EVENT_SYNC_TIMEOUT:
    case ACL_MDL_EXEC_PRIORITY_INT32:
    case ACL_MDL_NPU_PERF_MODE:
      return OptionType::int32;
    case ACL_MDL_WORK_ADDR_PTR:
      return OptionType::address;
    default:
      return OptionType::size;
  }
}

// Both option functions: (handle, attribute, value) -> ret.
template <typename Config, typename Attribute>
PyObject* set_option(const Function& self, const char* handle_name, PyObject* const* argv,
                     Py_ssize_t argc, aclError (*set)(Config*, Attribute, const void*, size_t)) {
  if (!self.takes(argc)) return nullptr;
  void* handle{};
  int32_t attribute{};
  if (!take({self, 0, handle_name}, argv[0], &handle) ||
      !take({self, 1, "attr"}, argv[1], &attribute))
    return nullptr;
  const ArgumentSource at{self, 2, "attr_value"};
  union {
    int32_t int32;
    size_t size;
    void* address;
    const char* text;
  } value{};
  size_t bytes = sizeof(size_t);
  bool ok;
  switch (option_type(static_cast<Attribute>(attribute))) {
    case OptionType::int32:
      bytes = sizeof(int32_t);
      ok = take(at, argv[2], &value.int32);
      break;
    case OptionType::text:
      ok = take(at, argv[2], &value.text);
      break;
    case OptionType::address:
      ok = take(at, argv[2], &value.address);
      break;
    default:
      ok = take(at, argv[2], &value.size);
  }
  if (!ok) return nullptr;
  return give(set(static_cast<Config*>(handle), static_cast<Attribute>(attribute), &value, bytes));
}

// The member of the union that belongs to a stream attribute; null for attributes not known.
const char* stream_attribute_key(aclrtStreamAttr attribute) {
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      return "failureMode";
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      return "overflowSwitch";
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      return "userCustomTag";
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      return "cacheOpInfoSwitch";
    case ACL_STREAM_ATTR_PRIORITY:
      return "streamPriority";
    default:
      return nullptr;
  }
}

}  // namespace

PyObject* mdl_set_config_opt(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_option(functions::mdl_set_config_opt, "config_handle", argv, argc, aclmdlSetConfigOpt);
}

PyObject* mdl_set_exec_config_opt(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  return set_option(functions::mdl_set_exec_config_opt, "handle", argv, argc,
                    aclmdlSetExecConfigOpt);
}

// value: the number itself, or a dict with the union's member.
PyObject* rt_set_stream_attribute(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_set_stream_attribute;
  if (!self.takes(argc)) return nullptr;
  void* stream{};
  int32_t attribute{};
  aclrtStreamAttrValue value{};
  if (!take({self, 0, "stream"}, argv[0], &stream) ||
      !take({self, 1, "stm_attr_type"}, argv[1], &attribute))
    return nullptr;
  const ArgumentSource at{self, 2, "value"};
  if (PyDict_Check(argv[2])) {
    if (!take(at, argv[2], &value)) return nullptr;
  } else if (attribute == ACL_STREAM_ATTR_FAILURE_MODE) {
    if (!take(at, argv[2], &value.failureMode)) return nullptr;
  } else if (!take(at, argv[2], &value.overflowSwitch)) {  // all other members have its type
    return nullptr;
  }
  return give(aclrtSetStreamAttribute(stream, static_cast<aclrtStreamAttr>(attribute), &value));
}

// Returns a dict with the union's member that belongs to the attribute.
PyObject* rt_get_stream_attribute(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_get_stream_attribute;
  if (!self.takes(argc)) return nullptr;
  void* stream{};
  int32_t number{};
  if (!take({self, 0, "stream"}, argv[0], &stream) ||
      !take({self, 1, "stm_attr_type"}, argv[1], &number))
    return nullptr;
  const auto attribute = static_cast<aclrtStreamAttr>(number);
  aclrtStreamAttrValue value{};
  const aclError ret = aclrtGetStreamAttribute(stream, attribute, &value);
  DictWriter dict;
  const char* key = stream_attribute_key(attribute);
  if (attribute == ACL_STREAM_ATTR_FAILURE_MODE)
    dict.add(key, value.failureMode);
  else if (key != nullptr)
    dict.add(key, value.overflowSwitch);
  return give(dict.finish(), ret);
}

// The attributes of a group are arrays of 32-bit numbers.
PyObject* rt_get_group_info_detail(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_get_group_info_detail;
  if (!self.takes(argc)) return nullptr;
  void* group_info{};
  int32_t group_id{};
  int32_t attribute{};
  if (!take({self, 0, "group_info"}, argv[0], &group_info) ||
      !take({self, 1, "group_id"}, argv[1], &group_id) ||
      !take({self, 2, "attr"}, argv[2], &attribute))
    return nullptr;
  uint32_t values[64] = {};
  size_t bytes = 0;
  const aclError ret = aclrtGetGroupInfoDetail(static_cast<aclrtGroupInfo*>(group_info), group_id,
                                               static_cast<aclrtGroupAttr>(attribute), values,
                                               sizeof(values), &bytes);
  return give(first_items(values, bytes / sizeof(uint32_t)), ret);
}

PyObject* acl_get_cann_attribute_list(PyObject*, PyObject* const*, Py_ssize_t argc) {
  if (!functions::acl_get_cann_attribute_list.takes(argc)) return nullptr;
  const aclCannAttr* attributes = nullptr;
  size_t count = 0;
  const aclError ret = aclGetCannAttributeList(&attributes, &count);
  if (attributes == nullptr) count = 0;
  return give(list_of(attributes, count), count, ret);
}

}  // namespace anynpu::pyacl
