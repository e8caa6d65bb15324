// SPDX-License-Identifier: Apache-2.0
#include "service/profile/tensor_range.h"

#include <vector>

#include "device/runtime.h"
#include "trace/trace.h"

namespace anynpu::service {

namespace {

constexpr uint64_t kAnyStream = UINT32_MAX;

struct OpenRange {
  trace::NameId name, text;
  uint64_t begin, stream;
  uint32_t blocks, kernel_type;
};

std::vector<OpenRange>& open_ranges_of_this_thread() {
  thread_local std::vector<OpenRange> stack;
  return stack;
}

Result<trace::NameId> check_text_id(uint64_t id, const char* what) {
  if (id < trace::name_count()) return static_cast<trace::NameId>(id);
  return fail(Code::invalid_argument, "{} is {}; pass what aclprofStr2Id gave", what, id);
}

}  // namespace

void TensorList::add(std::span<const uint32_t> shape, DType dtype, Format format) {
  if (!first_) shapes_ += ';', types_ += ';', formats_ += ';';
  first_ = false;
  for (size_t i = 0; i < shape.size(); ++i) shapes_ += (i ? "," : "") + std::to_string(shape[i]);
  types_ += name_of(dtype);
  formats_ += name_of(format);
}

Status push_tensor_range(const TensorRange& range) {
  ANYNPU_ASSIGN(const trace::NameId name, check_text_id(range.op_name, "opNameId"));
  ANYNPU_ASSIGN(const trace::NameId type, check_text_id(range.op_type, "opTypeId"));
  OpenRange open{name, 0, 0, kAnyStream, range.blocks, range.kernel_type};
  if (range.stream) {
    ANYNPU_ASSIGN(const auto stream, device::Runtime::instance().stream(range.stream));
    open.stream = stream->id();
  }
  if (trace::enabled(trace::Category::op)) {
    open.text = trace::intern(format("{}\t\t{}\t{}", std::string(trace::name_of(type)),
                                     range.inputs.text(), range.outputs.text()));
  }
  open.begin = ticks();
  open_ranges_of_this_thread().push_back(open);
  return {};
}

Status pop_tensor_range() {
  std::vector<OpenRange>& ranges = open_ranges_of_this_thread();
  if (ranges.empty()) {
    return fail(Code::stamp_not_recorded,
                "this thread has no open range; call aclprofRangePushEx first, in the same thread");
  }
  const OpenRange open = ranges.back();
  ranges.pop_back();
  if (open.text) {
    trace::slice(trace::Category::op, open.name, open.begin, ticks(), 0, open.text,
                 {open.stream, 0, open.blocks, open.kernel_type});
  }
  return {};
}

}  // namespace anynpu::service
