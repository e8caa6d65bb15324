// SPDX-License-Identifier: Apache-2.0
// Settings of the encoder as a whole: its modules, and sizes of QP maps.
#include "base/align.h"
#include "media/support.h"
#include "service/media/venc_channel.h"

namespace anynpu::media {
namespace {

constexpr int32_t kVencModules = 5;

struct ModuleRecords {
  std::mutex mutex;
  std::array<Record, kVencModules + 1> records;  // by module, from 1
};

ModuleRecords& module_records() {
  static auto& all = *new ModuleRecords;
  return all;
}

Status check_module(int32_t module) {
  if (module >= 1 && module <= kVencModules) return {};
  return fail(Code::invalid_argument, "the module is {}; expected 1 to 5", module);
}

}  // namespace

Status set_venc_module(int32_t module, Record record, const std::string& without_effect) {
  ANYNPU_TRY(check_module(module));
  ModuleRecords& all = module_records();
  const std::lock_guard lock(all.mutex);
  if (!without_effect.empty()) warn_without_effect("VENC", without_effect);
  all.records[module] = std::move(record);
  return {};
}

Result<Record> venc_module(int32_t module) {
  ANYNPU_TRY(check_module(module));
  ModuleRecords& all = module_records();
  const std::lock_guard lock(all.mutex);
  return all.records[module];
}

uint32_t qp_map_stride(uint32_t width) { return round_up(width, 256) / 16; }

uint32_t qp_map_bytes(uint32_t width, uint32_t height) {
  return qp_map_stride(width) * (round_up(height, 16) / 16);
}

}  // namespace anynpu::media
