// SPDX-License-Identifier: Apache-2.0
// The dump that a program sets while it runs (guide 7.12).
#include <cstring>

#include "acl/acl_dump.h"
#include "api/acl/entry.h"
#include "device/host_view.h"
#include "device/memory.h"
#include "service/dump/dump_control.h"
#include "service/dump/dump_paths.h"

using namespace anynpu;
using namespace anynpu::acl;
using service::DumpControl;

namespace {

constexpr size_t kMostTensors = 4096;

Status check_path_room(const std::string& path, size_t room) {
  if (room > path.size()) return {};
  return fail(Code::invalid_argument, "maxLen is {}; '{}' needs {} bytes", room, path,
              path.size() + 1);
}

Result<exec::DumpTensor> read_dump_tensor(const acldumpTensorInfo& info) {
  if (info.addrType != ACL_DUMP_ADDR_RAW || info.placement != ACL_DUMP_PLACEMENT_DEVICE ||
      info.shapeNum > ACL_DUMP_MAX_SHAPE_NUM || info.tensorSize == 0) {
    return fail(Code::invalid_argument,
                "addrType is {}, placement {}, shapeNum {}, tensorSize {}; expected 2 (raw), 0 "
                "(device), at most {}, and more than 0",
                static_cast<int>(info.addrType), static_cast<int>(info.placement), info.shapeNum,
                info.tensorSize, ACL_DUMP_MAX_SHAPE_NUM);
  }
  ANYNPU_ASSIGN(const auto range, device::check_range(info.tensorAddr, info.tensorSize,
                                                      device::Access::read, "tensorAddr"));
  exec::DumpTensor tensor;
  tensor.dtype = static_cast<DType>(info.dataType);
  tensor.format = static_cast<Format>(info.format);
  tensor.shape.assign(info.shape, info.shape + info.shapeNum);
  tensor.address = reinterpret_cast<uint64_t>(info.tensorAddr);
  tensor.bytes.resize(info.tensorSize);
  ANYNPU_TRY(device::copy_bytes(tensor.bytes.data(), range.address, info.tensorSize));
  return tensor;
}

Result<exec::OperatorDump> read_dump_tensors(const acldumpTensorInfo* tensors, size_t count) {
  ANYNPU_TRY(check_pointer(tensors, "tensors"));
  if (count == 0 || count > kMostTensors) {
    return fail(Code::invalid_argument, "tensorCount is {}; expected 1 to {}", count, kMostTensors);
  }
  exec::OperatorDump dump;
  for (size_t i = 0; i < count; ++i) {
    ANYNPU_ASSIGN(auto tensor, read_dump_tensor(tensors[i]), "tensor {}", i);
    (tensors[i].type == ACL_DUMP_TENSOR_INPUT ? dump.inputs : dump.outputs)
        .push_back(std::move(tensor));
  }
  return dump;
}

}  // namespace

extern "C" {

aclError aclmdlInitDump(void) {
  return enter(__func__, [] { return DumpControl::instance().start(); });
}

aclError aclmdlSetDump(const char* dumpCfgPath) {
  return enter(__func__, [&] { return DumpControl::instance().set_file(dumpCfgPath); });
}

aclError aclmdlFinalizeDump(void) {
  return enter(__func__, [] { return DumpControl::instance().finish(); });
}

const char* acldumpGetPath(acldumpType dumpType) {
  return enter_value(__func__, static_cast<const char*>(nullptr),
                     [&] { return service::dump_path(static_cast<int>(dumpType)); });
}

aclError acldumpGetExceptionInfoPath(char* path, size_t maxLen) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(path, "path"));
    ANYNPU_ASSIGN(const std::string text, service::exception_path());
    ANYNPU_TRY(check_path_room(text, maxLen));
    std::memcpy(path, text.c_str(), text.size() + 1);
    return {};
  });
}

aclError acldumpSaveExceptionInfo(const char* fileName, const char* userTag,
                                  const acldumpTensorInfo* tensors, size_t tensorCount) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto dump, read_dump_tensors(tensors, tensorCount));
    return service::save_exception_dump(fileName, userTag, dump);
  });
}

}  // extern "C"
