// SPDX-License-Identifier: Apache-2.0
// Calls on batches (acl.media.dvpp_vpc_batch_*_async): picture i of the input gives the next
// roi_nums[i] pictures of the output, in order.
#include "api/acl_dvpp/submit.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::VpcJob;

namespace {

constexpr uint32_t kMostOutputs = 256;

struct Batch {
  const acldvppBatchPicDesc* from;
  const uint32_t* counts;  // of outputs, for each input
  uint32_t size;           // of counts
  const acldvppBatchPicDesc* to;
  acldvppRoiConfig* const* crops;
};

Result<uint32_t> check_counts(const Batch& batch, size_t inputs, size_t outputs) {
  ANYNPU_TRY(check_pointer(batch.counts, "roiNums"));
  if (batch.size != inputs) {
    return fail(Code::invalid_argument, "roiNums has {} numbers; the input has {} pictures",
                batch.size, inputs);
  }
  uint64_t sum = 0;
  for (uint32_t i = 0; i < batch.size; ++i) sum += batch.counts[i];
  if (sum != outputs || sum > kMostOutputs) {
    return fail(Code::invalid_argument,
                "the numbers of regions add to {}; expected the {} pictures of the output, at most "
                "{}",
                sum, outputs, kMostOutputs);
  }
  return static_cast<uint32_t>(sum);
}

// Calls finish(part, i) for output i, with the crop set.
template <typename Finish>
Status add_all(VpcJob& job, const Batch& batch, Finish&& finish) {
  ANYNPU_ASSIGN(auto from, resolve<PictureBatch>(to_handle(batch.from)));
  ANYNPU_ASSIGN(auto to, resolve<PictureBatch>(to_handle(batch.to)));
  ANYNPU_TRY(check_counts(batch, from->pictures.size(), to->pictures.size()).status());
  ANYNPU_TRY(check_pointer(batch.crops, "cropAreas"));
  uint32_t output = 0;
  for (uint32_t i = 0; i < batch.size; ++i) {
    ANYNPU_ASSIGN(const auto source, picture_of(from_handle<void*>(from->pictures[i])));
    for (uint32_t k = 0; k < batch.counts[i]; ++k, ++output) {
      ANYNPU_ASSIGN(const auto target, picture_of(from_handle<void*>(to->pictures[output])));
      VpcJob::Part part;
      ANYNPU_ASSIGN(part.crop, edges_of(batch.crops[output]), "region {}", output);
      ANYNPU_TRY(finish(part, output, target));
      ANYNPU_TRY(job.add(source, target, part), "picture {} of the output", output);
    }
  }
  return {};
}

using Part = VpcJob::Part;
using Spec = media::PictureSpec;

}  // namespace

aclError acldvppVpcBatchCropAsync(acldvppChannelDesc* channelDesc,
                                  acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
                                  uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                  acldvppRoiConfig** cropAreas, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) {
      return add_all(job, {srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas},
                     [](Part&, uint32_t, const Spec&) { return Status(); });
    });
  });
}

aclError acldvppVpcBatchCropResizeAsync(acldvppChannelDesc* channelDesc,
                                        acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
                                        uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                        acldvppRoiConfig** cropAreas,
                                        acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_ASSIGN(const uint32_t how, interpolation_of(resizeConfig));
      return add_all(job, {srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas},
                     [&](Part& part, uint32_t, const Spec&) {
                       part.interpolation = how;
                       return Status();
                     });
    });
  });
}

aclError acldvppVpcBatchCropAndPasteAsync(acldvppChannelDesc* channelDesc,
                                          acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
                                          uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                          acldvppRoiConfig** cropAreas,
                                          acldvppRoiConfig** pasteAreas, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_TRY(check_pointer(pasteAreas, "pasteAreas"));
      return add_all(job, {srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas},
                     [&](Part& part, uint32_t i, const Spec&) -> Status {
                       ANYNPU_ASSIGN(part.paste, edges_of(pasteAreas[i]));
                       return {};
                     });
    });
  });
}

aclError acldvppVpcBatchCropResizePasteAsync(
    acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
    uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs, acldvppRoiConfig** cropAreas,
    acldvppRoiConfig** pasteAreas, acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_TRY(check_pointer(pasteAreas, "pasteAreas"));
      ANYNPU_ASSIGN(const uint32_t how, interpolation_of(resizeConfig));
      return add_all(job, {srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas},
                     [&](Part& part, uint32_t i, const Spec&) -> Status {
                       ANYNPU_ASSIGN(part.paste, edges_of(pasteAreas[i]));
                       part.interpolation = how;
                       return {};
                     });
    });
  });
}

aclError acldvppVpcBatchCropResizeMakeBorderAsync(
    acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
    uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs, acldvppRoiConfig** cropAreas,
    acldvppBorderConfig** borderCfgs, acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_TRY(check_pointer(borderCfgs, "borderCfgs"));
      ANYNPU_ASSIGN(const uint32_t how, interpolation_of(resizeConfig));
      return add_all(job, {srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas},
                     [&](Part& part, uint32_t i, const Spec& to) -> Status {
                       ANYNPU_ASSIGN(auto config, resolve<BorderConfig>(to_handle(borderCfgs[i])));
                       const uint64_t sides = uint64_t{config->left} + config->right;
                       const uint64_t ends = uint64_t{config->top} + config->bottom;
                       if (sides >= to.width || ends >= to.height) {
                         return fail(Code::invalid_argument,
                                     "the border takes {}x{} pixels of an output of {}x{}", sides,
                                     ends, to.width, to.height);
                       }
                       part.interpolation = how;
                       part.paste = media::Edges{config->left, to.width - config->right - 1,
                                                 config->top, to.height - config->bottom - 1};
                       part.border = border_of(*config);
                       return {};
                     });
    });
  });
}
