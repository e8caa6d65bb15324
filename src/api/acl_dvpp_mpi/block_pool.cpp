// SPDX-License-Identifier: Apache-2.0
// Pools of blocks of device memory (hi_mpi_vb_*).
#include "service/media/block_pool.h"

#include "api/acl_dvpp_mpi/mpi.h"

using namespace anynpu;
using media::BlockPools;
using mpi::Module;

hi_vb_pool hi_mpi_vb_create_pool(const hi_vb_pool_config* vb_pool_cfg) {
  constexpr auto failed = static_cast<hi_vb_pool>(HI_VB_INVALID_POOLID);
  return acl::enter_value(__func__, failed, [&]() -> Result<hi_vb_pool> {
    ANYNPU_TRY(media::check_media_system());
    ANYNPU_TRY(mpi::check_pointer(vb_pool_cfg, "vb_pool_cfg"));
    return BlockPools::instance().create(vb_pool_cfg->blk_size, vb_pool_cfg->blk_cnt);
  });
}

hi_s32 hi_mpi_vb_destroy_pool(hi_vb_pool pool) {
  return mpi::enter(__func__, Module::vb, [&] { return BlockPools::instance().destroy(pool); });
}

hi_vb_blk hi_mpi_vb_get_block(hi_vb_pool pool, hi_u64 blk_size, const hi_char*) {
  constexpr auto failed = static_cast<hi_vb_blk>(HI_VB_INVALID_HANDLE);
  return acl::enter_value(__func__, failed, [&]() -> Result<hi_vb_blk> {
    ANYNPU_TRY(media::check_media_system());
    return BlockPools::instance().take(pool, blk_size);
  });
}

hi_s32 hi_mpi_vb_release_block(hi_vb_blk vb_blk) {
  return mpi::enter(__func__, Module::vb, [&] { return BlockPools::instance().release(vb_blk); });
}

hi_s32 hi_mpi_vb_block_copyref(hi_vb_blk vb_blk) {
  return mpi::enter(__func__, Module::vb,
                    [&] { return BlockPools::instance().add_reference(vb_blk); });
}

void* hi_mpi_vb_handle_to_addr(hi_vb_blk vb_blk) {
  return acl::enter_value(__func__, static_cast<void*>(nullptr), [&]() -> Result<void*> {
    ANYNPU_TRY(media::check_media_system());
    return BlockPools::instance().address(vb_blk);
  });
}
