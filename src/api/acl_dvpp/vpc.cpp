// SPDX-License-Identifier: Apache-2.0
// Calls on one picture (acl.media.dvpp_vpc_*_async).
#include <cmath>

#include "api/acl_dvpp/submit.h"

namespace anynpu::dvpp {

Result<InUse> use_channel(const acldvppChannelDesc* channel, uint32_t mode, media::Unit unit,
                          aclrtStream stream) {
  ANYNPU_ASSIGN(auto pin, resolve<ChannelDesc>(acl::to_handle(channel)));
  ANYNPU_TRY(media::check_support(unit, media::Version::v1));
  if ((pin->mode & mode) == 0) {
    return fail(Code::invalid_argument,
                "the channel was created for the modes {:#x}; {} needs the mode {:#x}", pin->mode,
                media::name_of(unit), mode);
  }
  ANYNPU_ASSIGN(auto use, pin->channel->use());
  InUse out;
  out.keep = std::make_shared<media::PictureChannel::Use>(std::move(use));
  out.matrix = &pixel::color_matrix(pin->matrix);
  ANYNPU_ASSIGN(out.stream, device::Runtime::instance().stream(acl::to_handle(stream)));
  return out;
}

Result<uint32_t> interpolation_of(const acldvppResizeConfig* config) {
  ANYNPU_ASSIGN(auto pin, resolve<ResizeConfig>(acl::to_handle(config)));
  return pin->interpolation;
}

pixel::Border border_of(const BorderConfig& config) {
  pixel::Border border;
  border.kind = static_cast<pixel::BorderKind>(config.type);
  for (int i = 0; i < 4; ++i) border.value[i] = static_cast<uint8_t>(std::lround(config.value[i]));
  return border;
}

namespace {

using media::VpcJob;

struct Areas {
  const acldvppRoiConfig* crop = nullptr;
  const acldvppRoiConfig* paste = nullptr;
  const acldvppResizeConfig* resize = nullptr;
};

// A region of null means the whole picture, where a call has none.
Status transform(VpcJob& job, const acldvppPicDesc* input, const acldvppPicDesc* output,
                 const Areas& areas) {
  ANYNPU_ASSIGN(const auto from, picture_of(input));
  ANYNPU_ASSIGN(const auto to, picture_of(output));
  VpcJob::Part part;
  if (areas.crop != nullptr) {
    ANYNPU_ASSIGN(part.crop, edges_of(areas.crop));
  }
  if (areas.paste != nullptr) {
    ANYNPU_ASSIGN(part.paste, edges_of(areas.paste));
  }
  if (areas.resize != nullptr) {
    ANYNPU_ASSIGN(part.interpolation, interpolation_of(areas.resize));
  }
  return job.add(from, to, part);
}

}  // namespace
}  // namespace anynpu::dvpp

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::VpcJob;

aclError acldvppVpcResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                               acldvppPicDesc* outputDesc, acldvppResizeConfig* resizeConfig,
                               aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_TRY(interpolation_of(resizeConfig).status());
      return transform(job, inputDesc, outputDesc, {nullptr, nullptr, resizeConfig});
    });
  });
}

aclError acldvppVpcCropAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                             acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                             aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_TRY(edges_of(cropArea).status());
      return transform(job, inputDesc, outputDesc, {cropArea});
    });
  });
}

aclError acldvppVpcCropResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                   acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                   acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_TRY(edges_of(cropArea).status());
      ANYNPU_TRY(interpolation_of(resizeConfig).status());
      return transform(job, inputDesc, outputDesc, {cropArea, nullptr, resizeConfig});
    });
  });
}

aclError acldvppVpcCropAndPasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                     acldvppRoiConfig* pasteArea, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_TRY(edges_of(cropArea).status());
      ANYNPU_TRY(edges_of(pasteArea).status());
      return transform(job, inputDesc, outputDesc, {cropArea, pasteArea});
    });
  });
}

aclError acldvppVpcCropResizePasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                        acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                        acldvppRoiConfig* pasteArea,
                                        acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_TRY(edges_of(cropArea).status());
      ANYNPU_TRY(edges_of(pasteArea).status());
      ANYNPU_TRY(interpolation_of(resizeConfig).status());
      return transform(job, inputDesc, outputDesc, {cropArea, pasteArea, resizeConfig});
    });
  });
}

aclError acldvppVpcConvertColorAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(media::check_support(media::Unit::convert_color, media::Version::v1));
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_ASSIGN(const auto from, picture_of(inputDesc));
      ANYNPU_ASSIGN(const auto to, picture_of(outputDesc));
      return job.add_conversion(from, to);
    });
  });
}

aclError acldvppVpcMakeBorderAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                   acldvppPicDesc* outputDesc, acldvppBorderConfig* borderConfig,
                                   aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_ASSIGN(const auto from, picture_of(inputDesc));
      ANYNPU_ASSIGN(const auto to, picture_of(outputDesc));
      ANYNPU_ASSIGN(auto config, resolve<BorderConfig>(to_handle(borderConfig)));
      const uint64_t width = uint64_t{from.width} + config->left + config->right;
      const uint64_t height = uint64_t{from.height} + config->top + config->bottom;
      if (width != to.width || height != to.height) {
        return fail(Code::invalid_argument,
                    "the input with its border has {}x{} pixels, the output {}x{}", width, height,
                    to.width, to.height);
      }
      VpcJob::Part part;
      part.paste = media::Edges{config->left, config->left + from.width - 1, config->top,
                                config->top + from.height - 1};
      part.border = border_of(*config);
      return job.add(from, to, part);
    });
  });
}

aclError acldvppVpcPyrDownAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                acldvppPicDesc* outputDesc, void* reserve, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_ASSIGN(const auto from, picture_of(inputDesc));
      ANYNPU_ASSIGN(const auto to, picture_of(outputDesc));
      return job.add_pyramid(from, {&to, 1}, pixel::gaussian_5x5(),
                             {pixel::BorderKind::reflect_101, {}});
    });
  });
}

aclError acldvppVpcEqualizeHistAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, acldvppLutMap* lutMap,
                                     aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_ASSIGN(const auto from, picture_of(inputDesc));
      ANYNPU_ASSIGN(const auto to, picture_of(outputDesc));
      ANYNPU_ASSIGN(auto table, resolve<LookupTable>(to_handle(lutMap)));
      return job.add_lookup(from, to, table->table);
    });
  });
}

aclError acldvppVpcCalcHistAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* srcPicDesc,
                                 acldvppHist* hist, void* reserve, aclrtStream stream) {
  return enter(__func__, [&] {
    return run_vpc(channelDesc, stream, [&](VpcJob& job) -> Status {
      ANYNPU_ASSIGN(const auto from, picture_of(srcPicDesc));
      ANYNPU_ASSIGN(auto pin, resolve<HistogramObject>(to_handle(hist)));
      return job.add_histogram(from, [object = pin.share()](const pixel::Histogram& found) {
        object->values = found;
        object->ret_code = 0;
      });
    });
  });
}
