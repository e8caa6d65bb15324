// SPDX-License-Identifier: Apache-2.0
#include "service/profile/subscription.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "prof/config.h"
#include "prof/ownership.h"
#include "service/check_pointer.h"
#include "service/model/model_table.h"
#include "service/profile/control.h"

namespace anynpu::service {

namespace {

constexpr size_t kLongestText = 4096;

Status check_nothing_excludes(const prof::SubscribeConfig& config) {
  if (prof::owner() == prof::Owner::program) {
    return fail(Code::profiling_conflict,
                "a model cannot be subscribed between aclprofInit and aclprofFinalize; call "
                "aclprofFinalize first");
  }
  if (config.times || config.metrics != prof::kNoMetrics) return {};
  return fail(Code::invalid_argument,
              "the configuration asks for nothing: timeInfoSwitch is 0 and aicoreMetrics is none; "
              "set one of them");
}

Code cause_of(Code code) {
  if (code == Code::already_exists) return Code::model_already_subscribed;
  return code == Code::invalid_config ? Code::invalid_profiling_config : code;
}

}  // namespace

Result<prof::SubscribeConfig> make_subscribe_config(int8_t times, uint32_t metrics,
                                                    const void* fd) {
  if (times != 0 && times != 1) {
    return fail(Code::invalid_argument, "timeInfoSwitch is {}; expected 0 or 1",
                static_cast<int>(times));
  }
  if (prof::metrics_name(metrics).empty()) {
    return fail(Code::invalid_argument, "aicoreMetrics is {}; expected 0 to 8, or 255 for none",
                metrics);
  }
  const auto number = reinterpret_cast<uintptr_t>(fd);
  const int descriptor = number > 0 && number <= INT32_MAX ? static_cast<int>(number) : -1;
  return prof::make_subscribe_config(descriptor, times != 0, metrics);
}

Status subscribe_model(uint32_t model_id, Handle handle) {
  ANYNPU_ASSIGN(auto config, resolve<prof::SubscribeConfig>(handle));
  ANYNPU_ASSIGN(auto model, ModelTable::instance().find(model_id));
  ANYNPU_TRY(check_nothing_excludes(*config));
  const bool mine = prof::owner() == prof::Owner::subscription;
  if (!prof::claim(prof::Owner::subscription)) return owned_by_other();
  const Status status = prof::subscribe(model_id, model->device_id, *config);
  if (status.ok()) return {};
  if (!mine) prof::release(prof::Owner::subscription);
  return status.with_code(cause_of(status.code()));
}

Status unsubscribe_model(uint32_t model_id) {
  return prof::unsubscribe(model_id).with_code(Code::model_not_found);
}

Result<std::string_view> record_type(const void* data, size_t bytes, uint32_t index) {
  ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(data, bytes, index));
  return prof::type_of(record);
}

Result<std::string_view> record_name(const void* data, size_t bytes, uint32_t index) {
  ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(data, bytes, index));
  return prof::name_of(record);
}

Result<const char*> record_thread(const void* data, size_t bytes, uint32_t index) {
  ANYNPU_ASSIGN(const prof::OpRecord record, prof::read_record(data, bytes, index));
  thread_local std::string text;
  text = std::to_string(record.thread_id);
  return text.c_str();
}

Status copy_text(std::string_view text, char* to, size_t room) {
  ANYNPU_TRY(check_pointer(to, "the buffer"));
  if (room == 0 || room > kLongestText) {
    return fail(Code::invalid_argument, "the buffer has {} bytes; expected 1 to {}", room,
                kLongestText);
  }
  const size_t count = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), count);
  to[count] = 0;
  return {};
}

}  // namespace anynpu::service
