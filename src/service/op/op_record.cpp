// SPDX-License-Identifier: Apache-2.0
#include "service/op/op_record.h"

#include <filesystem>
#include <mutex>
#include <set>

#include "base/log.h"
#include "exec/dump_file.h"
#include "service/finalize.h"

namespace anynpu::service {

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
  for (size_t o = 0; handle.plan && o < op.outputs.size(); ++o) {
    if (op.has_output(o)) set_shape(op.outputs[o], handle.plan->outputs()[made++].shape);
  }
  record_op(std::move(op));
}

Status start_op_record(const char* folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || *folder == '\0') {
    return fail(Code::invalid_argument, "path is '{}'; expected a folder that can be made", folder);
  }
  on_finalize(stop_record);
  const std::lock_guard lock(record().mutex);
  if (records_ops()) {
    return fail(Code::bad_call_order,
                "operators are recorded already, to '{}'; call aclopStopDumpArgs first",
                record().folder);
  }
  record().folder = folder;
  detail::records_ops.store(true);
  return {};
}

Status stop_op_record() {
  if (!records_ops()) {
    return fail(Code::bad_call_order, "aclopStopDumpArgs came without aclopStartDumpArgs");
  }
  stop_record();
  return {};
}

}  // namespace anynpu::service
