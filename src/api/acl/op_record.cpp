// SPDX-License-Identifier: Apache-2.0
#include "api/acl/op_record.h"

#include <filesystem>
#include <mutex>
#include <set>

#include "acl/acl_dump.h"
#include "api/acl/entry.h"
#include "base/log.h"
#include "exec/dump_file.h"

namespace anynpu::acl {

namespace detail {
std::atomic<bool> records_ops{false};
}

namespace {

constexpr size_t kLongestName = 200;  // file systems end at 255

struct Record {
  std::mutex mutex;
  std::string folder;
  std::set<std::string> seen;  // by singleop::key_of
};
Record& record() {
  static auto* r = new Record;
  return *r;
}

void stop_record() {
  detail::records_ops.store(false);
  const std::lock_guard lock(record().mutex);
  record().seen.clear();
}

Status check_dump_type(uint32_t type) {
  if (type == ACL_OP_DUMP_OP_AICORE_ARGS) return {};
  return fail(Code::invalid_argument, "dumpType is {}; expected {} (ACL_OP_DUMP_OP_AICORE_ARGS)",
              type, ACL_OP_DUMP_OP_AICORE_ARGS);
}

}  // namespace

void record_op(singleop::SingleOp op) {
  const std::lock_guard lock(record().mutex);
  const size_t index = record().seen.size();
  if (!records_ops() || !record().seen.insert(singleop::key_of(op)).second) return;
  op.name.clear();
  std::string name = singleop::file_name(op, index);
  if (name.size() > kLongestName) name.resize(kLongestName);
  const std::string text = json::Value(json::Array{singleop::to_json(op)}).dump(2) + "\n";
  const Status written = exec::write_file(record().folder, name + ".json", text);
  if (!written.ok()) ANYNPU_LOG(error, "the record of {}: {}", op.type, written.message());
}

void record_op(const OpHandle& handle) {
  singleop::SingleOp op = handle.model->op();
  const auto set_shape = [](TensorDesc& desc, const Shape& shape) {
    const bool stored = desc.storage_format != Format::undefined && !desc.storage_shape.empty();
    (stored ? desc.storage_shape : desc.shape) = shape;
    desc.shape_ranges.clear();
  };
  const auto& fed = handle.model->fed_inputs();
  for (size_t i = 0; i < fed.size(); ++i) set_shape(op.inputs[fed[i]], handle.shapes[i]);
  size_t made = 0;
  for (TensorDesc& output : op.outputs) {
    if (!handle.plan || output.dtype == DType::undefined) continue;
    set_shape(output, handle.plan->outputs()[made++].shape);
  }
  record_op(std::move(op));
}

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclopStartDumpArgs(uint32_t dumpType, const char* path) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_dump_type(dumpType));
    ANYNPU_TRY(check_pointer(path, "path"));
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error || *path == '\0') {
      return fail(Code::invalid_argument, "path is '{}'; expected a folder that can be made", path);
    }
    static const bool once = (on_finalize(stop_record), true);
    (void)once;
    const std::lock_guard lock(record().mutex);
    if (records_ops()) {
      return fail(Code::bad_call_order,
                  "operators are recorded already, to '{}'; call "
                  "aclopStopDumpArgs first",
                  record().folder);
    }
    record().folder = path;
    acl::detail::records_ops.store(true);
    return {};
  });
}

aclError aclopStopDumpArgs(uint32_t dumpType) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_dump_type(dumpType));
    if (!records_ops()) {
      return fail(Code::bad_call_order, "aclopStopDumpArgs came without aclopStartDumpArgs");
    }
    stop_record();
    return {};
  });
}

}  // extern "C"
