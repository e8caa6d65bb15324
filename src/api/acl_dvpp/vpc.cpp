// SPDX-License-Identifier: Apache-2.0
// Calls on one picture (acl.media.dvpp_vpc_*_async).
#include "api/acl_dvpp/objects.h"
#include "service/media/picture_calls.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

media::PictureCall call_of(const acldvppChannelDesc* channel, const acldvppPicDesc* input,
                           const acldvppPicDesc* output, aclrtStream stream) {
  return {to_handle(channel), to_handle(stream), to_handle(input), to_handle(output)};
}

}  // namespace

aclError acldvppVpcResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                               acldvppPicDesc* outputDesc, acldvppResizeConfig* resizeConfig,
                               aclrtStream stream) {
  return enter(__func__, [&] {
    return media::transform_picture(call_of(channelDesc, inputDesc, outputDesc, stream),
                                    {{}, {}, to_handle(resizeConfig)});
  });
}

aclError acldvppVpcCropAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                             acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                             aclrtStream stream) {
  return enter(__func__, [&] {
    return media::transform_picture(call_of(channelDesc, inputDesc, outputDesc, stream),
                                    {to_handle(cropArea), {}, {}});
  });
}

aclError acldvppVpcCropResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                   acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                   acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::transform_picture(call_of(channelDesc, inputDesc, outputDesc, stream),
                                    {to_handle(cropArea), {}, to_handle(resizeConfig)});
  });
}

aclError acldvppVpcCropAndPasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                     acldvppRoiConfig* pasteArea, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::transform_picture(call_of(channelDesc, inputDesc, outputDesc, stream),
                                    {to_handle(cropArea), to_handle(pasteArea), {}});
  });
}

aclError acldvppVpcCropResizePasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                        acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                        acldvppRoiConfig* pasteArea,
                                        acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::transform_picture(
        call_of(channelDesc, inputDesc, outputDesc, stream),
        {to_handle(cropArea), to_handle(pasteArea), to_handle(resizeConfig)});
  });
}

aclError acldvppVpcConvertColorAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::convert_picture(call_of(channelDesc, inputDesc, outputDesc, stream));
  });
}

aclError acldvppVpcMakeBorderAsync(const acldvppChannelDesc* channelDesc,
                                   const acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                                   const acldvppBorderConfig* borderConfig, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::add_picture_border(call_of(channelDesc, inputDesc, outputDesc, stream),
                                     to_handle(borderConfig));
  });
}

aclError acldvppVpcPyrDownAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                acldvppPicDesc* outputDesc, void* reserve, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::halve_picture(call_of(channelDesc, inputDesc, outputDesc, stream));
  });
}

aclError acldvppVpcEqualizeHistAsync(const acldvppChannelDesc* channelDesc,
                                     const acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                                     const acldvppLutMap* lutMap, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::look_up_picture(call_of(channelDesc, inputDesc, outputDesc, stream),
                                  to_handle(lutMap));
  });
}

aclError acldvppVpcCalcHistAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* srcPicDesc,
                                 acldvppHist* hist, void* reserve, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::count_picture_values(call_of(channelDesc, srcPicDesc, nullptr, stream),
                                       to_handle(hist));
  });
}
