// SPDX-License-Identifier: Apache-2.0
// Batches of picture descriptions.
#include "api/acl_dvpp/objects.h"

using namespace anynpu;
using namespace anynpu::dvpp;

acldvppBatchPicDesc* acldvppCreateBatchPicDesc(uint32_t batchSize) {
  return give_handle<acldvppBatchPicDesc*>(__func__,
                                           [&] { return media::create_batch(batchSize); });
}

acldvppPicDesc* acldvppGetPicDesc(acldvppBatchPicDesc* batchPicDesc, uint32_t index) {
  return give_handle<acldvppPicDesc*>(
      __func__, [&] { return media::picture_of_batch(to_handle(batchPicDesc), index); });
}

aclError acldvppDestroyBatchPicDesc(acldvppBatchPicDesc* batchPicDesc) {
  return acl::destroy<media::PictureBatch>(__func__, batchPicDesc);
}
