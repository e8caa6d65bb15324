// SPDX-License-Identifier: Apache-2.0
// What a program tells about the kernels it launches: between a push and its pop, the tasks of this
// thread's calls are the operator that the push describes. Ranges nest; they are recorded with the
// operators, so nothing happens while these are not collected.
#include <vector>

#include "acl/acl_prof.h"
#include "api/acl/entry.h"
#include "device/runtime.h"
#include "tensor/dtype.h"
#include "trace/trace.h"

namespace anynpu::acl {

namespace {

constexpr aclError kNoOpenRange = -1;
constexpr uint32_t kMostTensors = 1024;
constexpr uint64_t kAnyStream = UINT32_MAX;

struct Open {
  trace::NameId name, text;
  uint64_t begin, stream;
  uint32_t blocks, kernel_type;
};

std::vector<Open>& pushed() {
  thread_local std::vector<Open> stack;
  return stack;
}

// Three lists of one side, as src/exec/describe_step.h has them.
struct Side {
  std::string shapes, types, formats;
  bool first = true;
  void add(const aclprofTensor& tensor) {
    if (!first) shapes += ';', types += ';', formats += ';';
    first = false;
    for (uint32_t i = 0; i < tensor.shapeDim; ++i)
      shapes += (i ? "," : "") + std::to_string(tensor.shape[i]);
    types += name_of(static_cast<DType>(tensor.dataType));
    formats += name_of(static_cast<Format>(static_cast<int32_t>(tensor.format)));
  }
  std::string text() const { return shapes + '\t' + types + '\t' + formats; }
};

Result<trace::NameId> text_of(uint64_t id, const char* what) {
  if (id < trace::name_count()) return static_cast<trace::NameId>(id);
  return fail(Code::invalid_argument, "{} is {}; pass what aclprofStr2Id gave", what, id);
}

Result<std::string> describe(const aclprofTensorInfo& info) {
  if (info.tensorNum > kMostTensors) {
    return fail(Code::invalid_argument, "tensorNum is {}; expected at most {}", info.tensorNum,
                kMostTensors);
  }
  if (info.tensorNum > 0) ANYNPU_TRY(check_pointer(info.tensors, "tensors"));
  Side inputs, outputs;
  for (uint32_t i = 0; i < info.tensorNum; ++i) {
    const aclprofTensor& tensor = info.tensors[i];
    if (tensor.type > 1 || tensor.shapeDim > ACL_PROF_TENSOR_DATA_SHAPE_LEN) {
      return fail(Code::invalid_argument,
                  "tensor {} has type {} and {} dimensions; expected 0 (input) or 1 (output), and "
                  "at most {}",
                  i, tensor.type, tensor.shapeDim, ACL_PROF_TENSOR_DATA_SHAPE_LEN);
    }
    (tensor.type == 0 ? inputs : outputs).add(tensor);
  }
  ANYNPU_ASSIGN(const trace::NameId type, text_of(info.opTypeId, "opTypeId"));
  return format("{}\t\t{}\t{}", std::string(trace::name_of(type)), inputs.text(), outputs.text());
}

Status push(const aclprofEventAttributes* attr) {
  ANYNPU_TRY(check_pointer(attr, "attr"));
  if (attr->size < sizeof(aclprofEventAttributes) ||
      attr->messageType != ACL_PROF_MESSAGE_TYPE_TENSOR_INFO) {
    return fail(Code::invalid_argument,
                "size is {} and messageType {}; expected {} or more, and 0 (tensor information)",
                attr->size, attr->messageType, sizeof(aclprofEventAttributes));
  }
  const aclprofTensorInfo* info = attr->message.tensorInfo;
  ANYNPU_TRY(check_pointer(info, "tensorInfo"));
  ANYNPU_ASSIGN(const trace::NameId name, text_of(info->opNameId, "opNameId"));
  ANYNPU_ASSIGN(const std::string text, describe(*info));
  Open open{name, 0, 0, kAnyStream, info->blockNums, info->kernelType};
  if (info->stream) {
    ANYNPU_ASSIGN(const auto stream, device::Runtime::instance().stream(to_handle(info->stream)));
    open.stream = stream->id();
  }
  if (trace::enabled(trace::Category::op)) open.text = trace::intern(text);
  open.begin = ticks();
  pushed().push_back(open);
  return {};
}

Failure pop() {
  if (pushed().empty()) {
    return {kNoOpenRange, fail(Code::bad_call_order,
                               "this thread has no open range; call aclprofRangePushEx "
                               "first, in the same thread")};
  }
  const Open open = pushed().back();
  pushed().pop_back();
  if (open.text) {
    trace::slice(trace::Category::op, open.name, open.begin, ticks(), 0, open.text,
                 {open.stream, 0, open.blocks, open.kernel_type});
  }
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclprofRangePushEx(aclprofEventAttributes* attr) {
  return enter(__func__, [&]() -> Failure { return push(attr); });
}

aclError aclprofRangePop(void) {
  return enter(__func__, []() -> Failure { return pop(); });
}

}  // extern "C"
