// SPDX-License-Identifier: Apache-2.0
// Batches of picture descriptions. The descriptions belong to the batch and end with it.
#include "api/acl_dvpp/objects.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

constexpr uint32_t kMostPictures = 256;

}  // namespace

PictureBatch::~PictureBatch() {
  for (Handle picture : pictures) HandleTable::instance().remove<PictureDesc>(picture);
}

acldvppBatchPicDesc* acldvppCreateBatchPicDesc(uint32_t batchSize) {
  return enter_value(
      __func__, static_cast<acldvppBatchPicDesc*>(nullptr), [&]() -> Result<acldvppBatchPicDesc*> {
        if (batchSize == 0 || batchSize > kMostPictures) {
          return fail(Code::invalid_argument, "the batch has {} pictures; expected 1 to {}",
                      batchSize, kMostPictures);
        }
        auto batch = std::make_shared<PictureBatch>();
        for (uint32_t i = 0; i < batchSize; ++i) {
          auto picture = std::make_shared<PictureDesc>();
          picture->in_batch = true;
          ANYNPU_ASSIGN(auto* handle, insert_object<acldvppPicDesc*>(std::move(picture)));
          batch->pictures.push_back(to_handle(handle));
        }
        return insert_object<acldvppBatchPicDesc*>(std::move(batch));
      });
}

acldvppPicDesc* acldvppGetPicDesc(acldvppBatchPicDesc* batchPicDesc, uint32_t index) {
  return enter_value(
      __func__, static_cast<acldvppPicDesc*>(nullptr), [&]() -> Result<acldvppPicDesc*> {
        ANYNPU_ASSIGN(auto batch, resolve<PictureBatch>(to_handle(batchPicDesc)));
        if (index >= batch->pictures.size()) {
          return fail(Code::invalid_argument, "the index is {}; the batch has {} pictures", index,
                      batch->pictures.size());
        }
        return from_handle<acldvppPicDesc*>(batch->pictures[index]);
      });
}

aclError acldvppDestroyBatchPicDesc(const acldvppBatchPicDesc* batchPicDesc) {
  return destroy<PictureBatch>(__func__, batchPicDesc);
}
