// SPDX-License-Identifier: Apache-2.0
#include "service/media/picture_calls.h"

#include <atomic>

#include "device/runtime.h"

namespace anynpu::media {
namespace {

std::atomic<uint64_t> next_channel_id{1};

Result<PictureSpec> picture_at(Handle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<PictureDesc>(handle));
  return PictureSpec(*pin);
}

Result<Edges> edges_at(Handle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<RegionConfig>(handle));
  return pin->edges;
}

Result<uint32_t> interpolation_at(Handle handle) {
  ANYNPU_ASSIGN(auto pin, resolve<ResizeConfig>(handle));
  return pin->interpolation;
}

// Queues what `add` puts into a job of the channel.
template <typename Add>
Status queue_job(Handle channel, Handle stream, Add&& add) {
  ANYNPU_ASSIGN(auto use, use_channel(channel, kModeVpc, Unit::vpc, stream));
  auto job = std::make_shared<VpcJob>(Version::v1, *use.matrix);
  ANYNPU_TRY(add(*job));
  return submit_vpc(std::move(job), std::move(use.keep), *use.stream);
}

// The same with both pictures of a call.
template <typename Add>
Status queue_pair(const PictureCall& call, Add&& add) {
  return queue_job(call.channel, call.stream, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto from, picture_at(call.input));
    ANYNPU_ASSIGN(const auto to, picture_at(call.output));
    return add(job, from, to);
  });
}

Result<VpcJob::Part> part_of(const TransformObjects& objects) {
  VpcJob::Part part;
  if (objects.crop) {
    ANYNPU_ASSIGN(part.crop, edges_at(*objects.crop));
  }
  if (objects.paste) {
    ANYNPU_ASSIGN(part.paste, edges_at(*objects.paste));
  }
  if (objects.resize) {
    ANYNPU_ASSIGN(part.interpolation, interpolation_at(*objects.resize));
  }
  return part;
}

Status check_list(const HandleList& list, const char* name) {
  if (list) return {};
  return fail(Code::invalid_argument, "{} is null; expected the address of a variable or text",
              name);
}

Status check_counts(const BatchCall& call, size_t inputs, size_t outputs) {
  if (call.counts == nullptr)
    return fail(Code::invalid_argument,
                "roiNums is null; expected the address of a variable or text");
  if (call.size != inputs)
    return fail(Code::invalid_argument, "roiNums has {} numbers; the input has {} pictures",
                call.size, inputs);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < call.size; ++i) sum += call.counts[i];
  if (sum == outputs && sum <= PictureBatch::kMost) return {};
  return fail(Code::invalid_argument,
              "the numbers of regions add to {}; expected the {} pictures of the output, at most "
              "{}",
              sum, outputs, PictureBatch::kMost);
}

Status set_border(const BorderConfig& config, const PictureSpec& to, VpcJob::Part* part) {
  const uint64_t sides = uint64_t{config.left} + config.right;
  const uint64_t ends = uint64_t{config.top} + config.bottom;
  if (sides >= to.width || ends >= to.height)
    return fail(Code::invalid_argument, "the border takes {}x{} pixels of an output of {}x{}",
                sides, ends, to.width, to.height);
  part->paste =
      Edges{config.left, to.width - config.right - 1, config.top, to.height - config.bottom - 1};
  part->border = config.border();
  return {};
}

// Everything of output `i` but its crop.
Status finish_part(const BatchObjects& objects, uint32_t interpolation, uint32_t i,
                   const PictureSpec& to, VpcJob::Part* part) {
  part->interpolation = interpolation;
  if (objects.pastes) {
    ANYNPU_ASSIGN(part->paste, edges_at((*objects.pastes)(i)));
  }
  if (!objects.borders) return {};
  ANYNPU_ASSIGN(auto config, resolve<BorderConfig>((*objects.borders)(i)));
  return set_border(*config, to, part);
}

Status add_batch_parts(VpcJob& job, const BatchCall& call, const BatchObjects& objects,
                       uint32_t interpolation) {
  ANYNPU_ASSIGN(auto from, resolve<PictureBatch>(call.input));
  ANYNPU_ASSIGN(auto to, resolve<PictureBatch>(call.output));
  ANYNPU_TRY(check_counts(call, from->pictures.size(), to->pictures.size()));
  ANYNPU_TRY(check_list(call.crops, "cropAreas"));
  uint32_t output = 0;
  for (uint32_t i = 0; i < call.size; ++i) {
    ANYNPU_ASSIGN(const auto source, picture_at(from->pictures[i]));
    for (uint32_t k = 0; k < call.counts[i]; ++k, ++output) {
      ANYNPU_ASSIGN(const auto target, picture_at(to->pictures[output]));
      VpcJob::Part part;
      ANYNPU_ASSIGN(part.crop, edges_at(call.crops(output)), "region {}", output);
      ANYNPU_TRY(finish_part(objects, interpolation, output, target, &part));
      ANYNPU_TRY(job.add(source, target, part), "picture {} of the output", output);
    }
  }
  return {};
}

}  // namespace

Status ChannelDesc::set_mode(uint32_t changed) {
  if (changed == 0 || (changed & ~kAllModes) != 0)
    return fail(Code::invalid_argument,
                "the mode is {:#x}; expected a sum of 1 (VPC), 2 (JPEGD), 4 (JPEGE) and 8 (PNGD)",
                changed);
  mode = changed;
  return {};
}

Status open_picture_channel(ChannelDesc& desc) {
  ANYNPU_TRY(device::Runtime::instance().current().status());
  ANYNPU_TRY(check_support(Unit::vpc, Version::v1));
  ANYNPU_TRY(desc.channel->open());
  desc.id = next_channel_id.fetch_add(1);
  if (desc.precision != 0) warn_without_effect("JPEGD", "the precision mode");
  return {};
}

Result<ChannelUse> use_channel(Handle channel, uint32_t mode, Unit unit, Handle stream) {
  ANYNPU_ASSIGN(auto pin, resolve<ChannelDesc>(channel));
  ANYNPU_TRY(check_support(unit, Version::v1));
  if ((pin->mode & mode) == 0)
    return fail(Code::invalid_argument,
                "the channel was created for the modes {:#x}; {} needs the mode {:#x}", pin->mode,
                name_of(unit), mode);
  ANYNPU_ASSIGN(auto use, pin->channel->use());
  ChannelUse out;
  out.keep = std::make_shared<PictureChannel::Use>(std::move(use));
  out.matrix = &pixel::color_matrix(pin->matrix);
  ANYNPU_ASSIGN(out.stream, device::Runtime::instance().stream(stream));
  return out;
}

Status transform_picture(const PictureCall& call, const TransformObjects& objects) {
  return queue_job(call.channel, call.stream, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto part, part_of(objects));
    ANYNPU_ASSIGN(const auto from, picture_at(call.input));
    ANYNPU_ASSIGN(const auto to, picture_at(call.output));
    return job.add(from, to, part);
  });
}

Status convert_picture(const PictureCall& call) {
  ANYNPU_TRY(check_support(Unit::convert_color, Version::v1));
  return queue_pair(call, [](VpcJob& job, const PictureSpec& from, const PictureSpec& to) {
    return job.add_conversion(from, to);
  });
}

Status add_picture_border(const PictureCall& call, Handle border) {
  return queue_pair(call,
                    [&](VpcJob& job, const PictureSpec& from, const PictureSpec& to) -> Status {
                      ANYNPU_ASSIGN(auto config, resolve<BorderConfig>(border));
                      const uint64_t width = uint64_t{from.width} + config->left + config->right;
                      const uint64_t height = uint64_t{from.height} + config->top + config->bottom;
                      if (width != to.width || height != to.height)
                        return fail(Code::invalid_argument,
                                    "the input with its border has {}x{} pixels, the output {}x{}",
                                    width, height, to.width, to.height);
                      VpcJob::Part part;
                      part.paste = Edges{config->left, config->left + from.width - 1, config->top,
                                         config->top + from.height - 1};
                      part.border = config->border();
                      return job.add(from, to, part);
                    });
}

Status halve_picture(const PictureCall& call) {
  return queue_pair(call, [](VpcJob& job, const PictureSpec& from, const PictureSpec& to) {
    return job.add_pyramid(from, {&to, 1}, pixel::gaussian_5x5(),
                           {pixel::BorderKind::reflect_101, {}});
  });
}

Status look_up_picture(const PictureCall& call, Handle table) {
  return queue_pair(call,
                    [&](VpcJob& job, const PictureSpec& from, const PictureSpec& to) -> Status {
                      ANYNPU_ASSIGN(auto pin, resolve<LookupTable>(table));
                      return job.add_lookup(from, to, pin->table);
                    });
}

Status count_picture_values(const PictureCall& call, Handle histogram) {
  return queue_job(call.channel, call.stream, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto from, picture_at(call.input));
    ANYNPU_ASSIGN(auto pin, resolve<HistogramObject>(histogram));
    return job.add_histogram(from, [object = pin.share()](const pixel::Histogram& found) {
      object->values = found;
      object->ret_code = 0;
    });
  });
}

Status transform_batch(const BatchCall& call, const BatchObjects& objects) {
  return queue_job(call.channel, call.stream, [&](VpcJob& job) -> Status {
    if (objects.pastes) ANYNPU_TRY(check_list(*objects.pastes, "pasteAreas"));
    if (objects.borders) ANYNPU_TRY(check_list(*objects.borders, "borderCfgs"));
    uint32_t interpolation = 0;
    if (objects.resize) {
      ANYNPU_ASSIGN(interpolation, interpolation_at(*objects.resize));
    }
    return add_batch_parts(job, call, objects, interpolation);
  });
}

}  // namespace anynpu::media
