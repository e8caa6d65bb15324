// SPDX-License-Identifier: Apache-2.0
// acl.rt.get_device_utilization_rate, whose dictionary has other keys than the structure of C.
#include "wrappers.h"

namespace anynpu::pyacl {

PyObject* rt_get_device_utilization_rate(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::rt_get_device_utilization_rate;
  if (!self.takes(argc)) return nullptr;
  int32_t device{};
  if (!take({self, 0, "device_id"}, argv[0], &device)) return nullptr;
  aclrtUtilizationInfo info{};
  const aclError ret = aclrtGetDeviceUtilizationRate(device, &info);
  DictWriter out;
  out.add("cube_utilization", info.cubeUtilization);
  out.add("vector_utilization", info.vectorUtilization);
  out.add("aicpu_utilization", info.aicpuUtilization);
  out.add("memory_utilization", info.memoryUtilization);
  out.add("utilization_extend", static_cast<const void*>(info.utilizationExtend));
  return give(out.finish(), ret);
}

}  // namespace anynpu::pyacl
