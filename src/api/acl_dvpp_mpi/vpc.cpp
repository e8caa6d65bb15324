// SPDX-License-Identifier: Apache-2.0
// Work on pictures (acl.himpi.vpc_*): calls are queued on the channel's stream and get a number;
// hi_mpi_vpc_get_process_result waits for it, from any thread.
#include "api/acl_dvpp_mpi/vpc_call.h"

namespace anynpu::mpi {
namespace {

constexpr hi_u32 kMostRegions = 256;

Result<std::shared_ptr<VpcChannel>> make_channel() {
  ANYNPU_TRY(media::check_support(media::Unit::vpc, media::Version::v2));
  ANYNPU_ASSIGN(auto stream, OwnStream::make());
  return std::make_shared<VpcChannel>(std::move(stream));
}

Status check_count(hi_u32 count) {
  if (count >= 1 && count <= kMostRegions) return {};
  return fail(Code::invalid_argument, "{} regions were asked for; expected 1 to {}", count,
              kMostRegions);
}

Result<media::Edges> edges(hi_u32 left, hi_u32 top, hi_u32 width, hi_u32 height) {
  if (width == 0 || height == 0 || width > 65536 || height > 65536 || left > 65536 || top > 65536)
    return fail(Code::invalid_argument, "the region at {},{} has {}x{} pixels", left, top, width,
                height);
  return media::Edges{left, left + width - 1, top, top + height - 1};
}

Result<VpcJob::Part> part_of(const hi_vpc_crop_region& r) {
  VpcJob::Part part;
  ANYNPU_ASSIGN(part.crop, edges(r.left_offset, r.top_offset, r.crop_width, r.crop_height));
  return part;
}

// Where a scaled region lies in the output; a size of 0 is that of the output.
Status place(const hi_vpc_resize_info& size, hi_u32 left, hi_u32 top, const hi_vpc_pic_info& to,
             VpcJob::Part* part) {
  const hi_u32 width = size.resize_width ? size.resize_width : to.picture_width;
  const hi_u32 height = size.resize_height ? size.resize_height : to.picture_height;
  ANYNPU_ASSIGN(part->paste, edges(left, top, width, height));
  part->interpolation = size.interpolation;
  return {};
}

Status add_paste(VpcJob& job, const hi_vpc_pic_info& from,
                 const hi_vpc_crop_resize_paste_region& r) {
  ANYNPU_ASSIGN(auto part, part_of(r.crop_region));
  ANYNPU_TRY(place(r.resize_info, r.dest_left_offset, r.dest_top_offset, r.dest_pic_info, &part));
  return job.add(spec_of(from), spec_of(r.dest_pic_info), part);
}

Status add_border(VpcJob& job, const hi_vpc_pic_info& from,
                  const hi_vpc_crop_resize_border_region& r) {
  ANYNPU_ASSIGN(auto part, part_of(r.crop_region));
  ANYNPU_TRY(place(r.resize_info, r.dest_left_offset, r.dest_top_offset, r.dest_pic_info, &part));
  ANYNPU_ASSIGN(part.border, border_of(r.border_type, r.scalar_value));
  return job.add(spec_of(from), spec_of(r.dest_pic_info), part);
}

// Regions of one picture, or of several: counts[i] of picture i.
template <typename Region, typename AddOne>
Status add_regions(VpcJob& job, const hi_vpc_pic_info* from, const Region* regions, hi_u32 count,
                   AddOne&& add_one) {
  ANYNPU_TRY(check_pointer(from, "source_pic"));
  ANYNPU_TRY(check_pointer(regions, "the list of regions"));
  ANYNPU_TRY(check_count(count));
  for (hi_u32 i = 0; i < count; ++i) ANYNPU_TRY(add_one(job, *from, regions[i]), "region {}", i);
  return {};
}

template <typename Region, typename AddOne>
Status add_batch(VpcJob& job, const hi_vpc_pic_info** from, hi_u32 pictures, const Region* regions,
                 const hi_u32* counts, AddOne&& add_one) {
  ANYNPU_TRY(check_pointer(from, "source_pic"));
  ANYNPU_TRY(check_pointer(counts, "count"));
  ANYNPU_TRY(check_count(pictures));
  for (hi_u32 i = 0; i < pictures; ++i) {
    ANYNPU_TRY(add_regions(job, from[i], regions, counts[i], add_one));
    regions += counts[i];
  }
  return {};
}

}  // namespace

Channels<VpcChannel>& vpc_channels() {
  static auto& all = *new Channels<VpcChannel>("VPC", VPC_MAX_CHN_NUM);
  return all;
}

device::TaskKind& VpcChannel::task_kind() {
  static constinit device::TaskKind kind{"vpc", device::Engine::vpc};
  return kind;
}

Result<pixel::Border> border_of(hi_vpc_bord_type type, const hi_vpc_scalar& value) {
  if (type < HI_BORDER_CONSTANT || type > HI_BORDER_WRAP)
    return fail(Code::invalid_argument, "the border type is {}; expected 0 to 4", type);
  pixel::Border border;
  border.kind = static_cast<pixel::BorderKind>(type);
  for (int i = 0; i < 4; ++i) {
    if (!(value.val[i] >= 0 && value.val[i] <= 255))
      return fail(Code::invalid_argument, "a border value is {}; expected 0 to 255", value.val[i]);
    border.value[i] = static_cast<uint8_t>(value.val[i] + 0.5);
  }
  return border;
}

void close_vpc() { vpc_channels().remove_all(); }

}  // namespace anynpu::mpi

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_vpc_create_chn(hi_vpc_chn chn, const hi_vpc_chn_attr* attr) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(check_pointer(attr, "attr"));
    return vpc_channels().create(chn, make_channel);
  });
}

hi_s32 hi_mpi_vpc_sys_create_chn(hi_vpc_chn* chn, const hi_vpc_chn_attr* attr) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(check_pointer(chn, "chn"));
    ANYNPU_TRY(check_pointer(attr, "attr"));
    *chn = vpc_channels().free_number();
    return vpc_channels().create(*chn, make_channel);
  });
}

hi_s32 hi_mpi_vpc_destroy_chn(hi_vpc_chn chn) {
  return mpi::enter(__func__, Module::vpc,
                    [&]() -> Status { return vpc_channels().remove(chn).status(); });
}

hi_s32 hi_mpi_vpc_get_process_result(hi_vpc_chn chn, hi_u32 task_id, hi_s32 milli_sec) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, vpc_channels().find(chn));
    return channel->wait(task_id, milli_sec);
  });
}

hi_s32 hi_mpi_vpc_resize(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                         hi_vpc_pic_info* dest_pic, hi_double fx, hi_double fy,
                         hi_u32 interpolation, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(source_pic, "source_pic"));
    ANYNPU_TRY(check_pointer(dest_pic, "dest_pic"));
    VpcJob::Part part;
    part.interpolation = interpolation;
    return job.add(spec_of(*source_pic), spec_of(*dest_pic), part);
  });
}

hi_s32 hi_mpi_vpc_crop(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                       hi_vpc_crop_region_info* crop_info, hi_u32 count, hi_u32* task_id,
                       hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    return add_regions(
        job, source_pic, crop_info, count,
        [](VpcJob& job, const hi_vpc_pic_info& from, const hi_vpc_crop_region_info& r) -> Status {
          ANYNPU_ASSIGN(const auto part, part_of(r.crop_region));
          return job.add(spec_of(from), spec_of(r.dest_pic_info), part);
        });
  });
}

hi_s32 hi_mpi_vpc_crop_resize(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                              hi_vpc_crop_resize_region* crop_resize_info, hi_u32 count,
                              hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    return add_regions(
        job, source_pic, crop_resize_info, count,
        [](VpcJob& job, const hi_vpc_pic_info& from, const hi_vpc_crop_resize_region& r) -> Status {
          ANYNPU_ASSIGN(auto part, part_of(r.crop_region));
          ANYNPU_TRY(place(r.resize_info, 0, 0, r.dest_pic_info, &part));
          return job.add(spec_of(from), spec_of(r.dest_pic_info), part);
        });
  });
}

hi_s32 hi_mpi_vpc_crop_resize_paste(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                    hi_vpc_crop_resize_paste_region* crop_resize_paste_info,
                                    hi_u32 count, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) {
    return add_regions(job, source_pic, crop_resize_paste_info, count, add_paste);
  });
}

hi_s32 hi_mpi_vpc_crop_resize_resize_paste(
    hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
    hi_vpc_crop_resize_resize_paste_region* crop_resize_resize_paste_info, hi_u32 count,
    hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    return add_regions(job, source_pic, crop_resize_resize_paste_info, count,
                       [](VpcJob& job, const hi_vpc_pic_info& from,
                          const hi_vpc_crop_resize_resize_paste_region& r) -> Status {
                         ANYNPU_ASSIGN(auto part, part_of(r.crop_region));
                         ANYNPU_TRY(place(r.resize_info2, r.dest_left_offset, r.dest_top_offset,
                                          r.dest_pic_info, &part));
                         part.first =
                             VpcJob::Step{r.resize_info1.resize_width, r.resize_info1.resize_height,
                                          r.resize_info1.interpolation};
                         return job.add(spec_of(from), spec_of(r.dest_pic_info), part);
                       });
  });
}

hi_s32 hi_mpi_vpc_crop_resize_make_border(
    hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
    hi_vpc_crop_resize_border_region* crop_resize_make_border_info, hi_u32 count, hi_u32* task_id,
    hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) {
    return add_regions(job, source_pic, crop_resize_make_border_info, count, add_border);
  });
}

hi_s32 hi_mpi_vpc_batch_crop_resize_paste(hi_vpc_chn chn, const hi_vpc_pic_info** source_pic,
                                          hi_u32 pic_num,
                                          hi_vpc_crop_resize_paste_region* crop_resize_paste_info,
                                          const hi_u32* count, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) {
    return add_batch(job, source_pic, pic_num, crop_resize_paste_info, count, add_paste);
  });
}

hi_s32 hi_mpi_vpc_batch_crop_resize_make_border(
    hi_vpc_chn chn, const hi_vpc_pic_info** source_pic, hi_u32 pic_num,
    hi_vpc_crop_resize_border_region* crop_resize_make_border_info, const hi_u32* count,
    hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) {
    return add_batch(job, source_pic, pic_num, crop_resize_make_border_info, count, add_border);
  });
}

hi_s32 hi_mpi_vpc_convert_color(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                hi_vpc_pic_info* dest_pic, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(source_pic, "source_pic"));
    ANYNPU_TRY(check_pointer(dest_pic, "dest_pic"));
    return job.add_conversion(spec_of(*source_pic), spec_of(*dest_pic));
  });
}

hi_s32 hi_mpi_vpc_convert_color_to_yuv420(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                          hi_vpc_pic_info* dest_pic, hi_u32* task_id,
                                          hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(source_pic, "source_pic"));
    ANYNPU_TRY(check_pointer(dest_pic, "dest_pic"));
    if (dest_pic->picture_format != HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420 &&
        dest_pic->picture_format != HI_PIXEL_FORMAT_YVU_SEMIPLANAR_420)
      return fail(Code::invalid_argument, "the output format is {}; expected 1 or 2 (YUV420)",
                  dest_pic->picture_format);
    return job.add_conversion(spec_of(*source_pic), spec_of(*dest_pic));
  });
}

hi_s32 hi_mpi_vpc_convert_color_v2(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                   hi_vpc_pic_info* dest_pic, const hi_csc_conf* conf,
                                   hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(source_pic, "source_pic"));
    ANYNPU_TRY(check_pointer(dest_pic, "dest_pic"));
    ANYNPU_TRY(check_pointer(conf, "conf"));
    if (conf->alpha > 255)
      return fail(Code::invalid_argument, "alpha is {}; expected 0 to 255", conf->alpha);
    return job.add_conversion(spec_of(*source_pic), spec_of(*dest_pic),
                              static_cast<uint8_t>(conf->alpha));
  });
}

hi_s32 hi_mpi_vpc_copy_make_border(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                   hi_vpc_pic_info* dest_pic,
                                   hi_vpc_make_border_info make_border_info, hi_u32* task_id,
                                   hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(source_pic, "source_pic"));
    ANYNPU_TRY(check_pointer(dest_pic, "dest_pic"));
    VpcJob::Part part;
    ANYNPU_ASSIGN(part.border,
                  border_of(make_border_info.border_type, make_border_info.scalar_value));
    ANYNPU_ASSIGN(part.paste, edges(make_border_info.left, make_border_info.top,
                                    source_pic->picture_width, source_pic->picture_height));
    return job.add(spec_of(*source_pic), spec_of(*dest_pic), part);
  });
}

namespace {

hi_s32 count_values(const char* function, hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                    hi_vpc_histogram_config* hist_config, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(function, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(source_pic, "source_pic"));
    ANYNPU_ASSIGN(auto memory, device::check_range(hist_config, sizeof *hist_config,
                                                   device::Access::write, "hist_config"));
    return job.add_histogram(spec_of(*source_pic), [memory](const pixel::Histogram& found) {
      static_assert(sizeof found == sizeof(hi_vpc_histogram_config));
      std::copy_n(reinterpret_cast<const uint8_t*>(&found), sizeof found, memory.address);
    });
  });
}

}  // namespace

hi_s32 hi_mpi_vpc_calc_hist(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                            hi_vpc_histogram_config* hist_config, hi_u32* task_id,
                            hi_s32 milli_sec) {
  return count_values(__func__, chn, source_pic, hist_config, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_calc_hist_v2(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                               hi_vpc_histogram_config* hist_config, hi_u32* task_id,
                               hi_s32 milli_sec) {
  return count_values(__func__, chn, source_pic, hist_config, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_equalize_hist(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                hi_vpc_pic_info* dest_pic, const hi_vpc_lut_remap* lut_remap,
                                hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(source_pic, "source_pic"));
    ANYNPU_TRY(check_pointer(dest_pic, "dest_pic"));
    ANYNPU_TRY(check_pointer(lut_remap, "lut_remap"));
    pixel::Lookup table;
    static_assert(sizeof table == sizeof *lut_remap);
    std::copy_n(reinterpret_cast<const uint8_t*>(lut_remap), sizeof table,
                reinterpret_cast<uint8_t*>(&table));
    return job.add_lookup(spec_of(*source_pic), spec_of(*dest_pic), table);
  });
}
