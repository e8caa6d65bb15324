// SPDX-License-Identifier: Apache-2.0
#include "service/media/media_system.h"

#include <atomic>

#include "device/runtime.h"
#include "media/support.h"
#include "service/finalize.h"
#include "service/media/block_pool.h"
#include "service/media/png_channel.h"
#include "service/media/regions.h"
#include "service/media/vdec_channel.h"
#include "service/media/venc_channel.h"
#include "service/media/vpc_channel.h"

namespace anynpu::media {
namespace {

std::atomic<bool> system_started{false};

}  // namespace

Status start_media_system() {
  ANYNPU_TRY(device::Runtime::instance().current().status());
  ANYNPU_TRY(check_support(Unit::vpc, Version::v2));
  service::on_finalize(stop_media_system);
  system_started = true;
  return {};
}

void stop_media_system() {
  vpc_channels().remove_all();
  vdec_channels().remove_all();
  venc_channels().remove_all();
  png_channels().remove_all();
  destroy_all_regions();
  BlockPools::instance().destroy_all();
  system_started = false;
}

Status check_media_system() {
  if (system_started) return {};
  return fail(Code::not_initialized, "the media system is not started; call hi_mpi_sys_init first");
}

}  // namespace anynpu::media
