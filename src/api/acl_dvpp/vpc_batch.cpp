// SPDX-License-Identifier: Apache-2.0
// Calls on batches (acl.media.dvpp_vpc_batch_*_async).
#include "api/acl_dvpp/objects.h"
#include "service/media/picture_calls.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

template <typename T>
media::HandleList list_of(T* const* pointers) {
  if (pointers == nullptr) return nullptr;
  return [pointers](uint32_t index) { return to_handle(pointers[index]); };
}

// What all calls take; `stream` is the last of their arguments.
struct Batch {
  acldvppChannelDesc* channel;
  acldvppBatchPicDesc* from;
  uint32_t* counts;
  uint32_t size;
  acldvppBatchPicDesc* to;
  acldvppRoiConfig** crops;
  aclrtStream stream;
};

aclError run_batch(const char* function, const Batch& batch, const media::BatchObjects& objects) {
  return enter(function, [&] {
    return media::transform_batch(
        {to_handle(batch.channel), to_handle(batch.stream), to_handle(batch.from),
         to_handle(batch.to), batch.counts, batch.size, list_of(batch.crops)},
        objects);
  });
}

}  // namespace

aclError acldvppVpcBatchCropAsync(acldvppChannelDesc* channelDesc,
                                  acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
                                  uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                  acldvppRoiConfig** cropAreas, aclrtStream stream) {
  return run_batch(
      __func__, {channelDesc, srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, stream},
      {});
}

aclError acldvppVpcBatchCropResizeAsync(acldvppChannelDesc* channelDesc,
                                        acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
                                        uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                        acldvppRoiConfig** cropAreas,
                                        acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return run_batch(
      __func__, {channelDesc, srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, stream},
      {{}, {}, to_handle(resizeConfig)});
}

aclError acldvppVpcBatchCropAndPasteAsync(acldvppChannelDesc* channelDesc,
                                          acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
                                          uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                          acldvppRoiConfig** cropAreas,
                                          acldvppRoiConfig** pasteAreas, aclrtStream stream) {
  return run_batch(
      __func__, {channelDesc, srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, stream},
      {list_of(pasteAreas), {}, {}});
}

aclError acldvppVpcBatchCropResizePasteAsync(
    acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
    uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs, acldvppRoiConfig** cropAreas,
    acldvppRoiConfig** pasteAreas, acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return run_batch(
      __func__, {channelDesc, srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, stream},
      {list_of(pasteAreas), {}, to_handle(resizeConfig)});
}

aclError acldvppVpcBatchCropResizeMakeBorderAsync(
    acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
    uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs, acldvppRoiConfig** cropAreas,
    acldvppBorderConfig** borderCfgs, acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return run_batch(
      __func__, {channelDesc, srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, stream},
      {{}, list_of(borderCfgs), to_handle(resizeConfig)});
}
