// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_job.h"

#include "base/thread_pool.h"
#include "media/interpolation.h"

namespace anynpu::media {
namespace {

constinit device::TaskKind kVpcTask{"vpc", device::Engine::vpc};

Status different_sizes(const pixel::Picture& from, const pixel::Picture& to) {
  return fail(Code::invalid_argument,
              "the input has {}x{} pixels and the output {}x{}; expected equal sizes", from.width,
              from.height, to.width, to.height);
}

}  // namespace

Result<pixel::Picture> VpcJob::take(const PictureSpec& spec, const char* role,
                                    device::Access access) {
  ANYNPU_ASSIGN(auto checked, check_picture(spec, kVpcRules, role, access));
  memory_.push_back(std::move(checked.memory));
  if (access == device::Access::write) {
    bytes_ += memory_.back().bytes;
    outputs_.push_back(checked.view);
  }
  return checked.view;
}

Result<VpcJob::Pair> VpcJob::take_pair(const PictureSpec& from, const PictureSpec& to) {
  ANYNPU_ASSIGN(const auto source, take(from, "input", device::Access::read));
  ANYNPU_ASSIGN(const auto target, take(to, "output", device::Access::write));
  return Pair{source, target};
}

Status VpcJob::add(const PictureSpec& from, const PictureSpec& to, const Part& part) {
  ANYNPU_ASSIGN(const Pair pair, take_pair(from, to));
  pixel::Transform t;
  t.from = pair.from;
  t.to = pair.to;
  t.crop = pair.from.all();
  t.paste = pair.to.all();
  t.matrix = &matrix_;
  t.alpha = part.alpha;
  if (part.crop) {
    ANYNPU_ASSIGN(t.crop, check_region(*part.crop, pair.from, "crop area"));
  }
  if (part.paste) {
    ANYNPU_ASSIGN(t.paste, check_region(*part.paste, pair.to, "paste area"));
  }
  ANYNPU_ASSIGN(t.interpolation, interpolation_of(part.interpolation, version_));
  pixel::Interpolation first = t.interpolation;
  if (part.first) {
    ANYNPU_ASSIGN(first, interpolation_of(part.first->interpolation, version_));
    const auto& size = *part.first;
    if (size.width < kVpcRules.least_width || size.height < kVpcRules.least_height ||
        size.width > kVpcRules.most_width || size.height > kVpcRules.most_height)
      return fail(Code::invalid_argument, "the first size is {}x{}; expected {}x{} to {}x{}",
                  size.width, size.height, kVpcRules.least_width, kVpcRules.least_height,
                  kVpcRules.most_width, kVpcRules.most_height);
  }
  parts_.push_back([t, first, scale = part.first, border = part.border] {
    if (scale) {
      const pixel::OwnPicture middle(*t.from.format, scale->width, scale->height);
      pixel::Transform one = t;
      one.to = middle.view();
      one.paste = one.to.all();
      one.interpolation = first;
      pixel::transform(one);
      pixel::Transform two = t;
      two.from = middle.view();
      two.crop = two.from.all();
      pixel::transform(two);
    } else {
      pixel::transform(t);
    }
    if (border) pixel::fill_border(t.to, t.paste, *border);
  });
  return {};
}

Status VpcJob::add_conversion(const PictureSpec& from, const PictureSpec& to, uint8_t alpha) {
  ANYNPU_ASSIGN(const Pair pair, take_pair(from, to));
  if (pair.from.width != pair.to.width || pair.from.height != pair.to.height)
    return different_sizes(pair.from, pair.to);
  parts_.push_back([pair, alpha, this] { pixel::convert(pair.from, pair.to, matrix_, alpha); });
  return {};
}

Status VpcJob::add_histogram(const PictureSpec& from,
                             std::function<void(const pixel::Histogram&)> take_result) {
  ANYNPU_ASSIGN(const auto source, take(from, "input", device::Access::read));
  parts_.push_back([source, take_result = std::move(take_result)] {
    pixel::Histogram histogram;
    pixel::count_values(source, &histogram);
    take_result(histogram);
  });
  return {};
}

Status VpcJob::add_lookup(const PictureSpec& from, const PictureSpec& to,
                          const pixel::Lookup& table) {
  ANYNPU_ASSIGN(const Pair pair, take_pair(from, to));
  if (pair.from.width != pair.to.width || pair.from.height != pair.to.height)
    return different_sizes(pair.from, pair.to);
  if (pair.from.format != pair.to.format) {
    return fail(Code::invalid_argument, "the input is {} and the output {}; expected equal formats",
                pair.from.format->name, pair.to.format->name);
  }
  parts_.push_back([pair, table] { pixel::look_up(pair.from, pair.to, table); });
  return {};
}

Status VpcJob::add_pyramid(const PictureSpec& from, std::span<const PictureSpec> to,
                           const pixel::Filter5x5& filter, const pixel::Border& border) {
  ANYNPU_ASSIGN(const auto source, take(from, "input", device::Access::read));
  std::vector<pixel::Picture> levels = {source};
  for (const PictureSpec& spec : to) {
    ANYNPU_ASSIGN(const auto level, take(spec, "output", device::Access::write));
    const pixel::Picture& above = levels.back();
    if (level.format != source.format)
      return fail(Code::invalid_argument,
                  "the input is {} and the output {}; expected equal formats", source.format->name,
                  level.format->name);
    if (level.width != (above.width + 1) / 2 || level.height != (above.height + 1) / 2)
      return fail(Code::invalid_argument, "the output has {}x{} pixels; expected half of {}x{}",
                  level.width, level.height, above.width, above.height);
    levels.push_back(level);
  }
  parts_.push_back([levels, filter, border] {
    for (size_t i = 1; i < levels.size(); ++i)
      pixel::pyramid_down(levels[i - 1], levels[i], filter, border);
  });
  return {};
}

Status VpcJob::add_work(const PictureSpec& from, const PictureSpec& to, Size size, Work work) {
  ANYNPU_ASSIGN(const Pair pair, take_pair(from, to));
  if (pair.from.format != pair.to.format)
    return fail(Code::invalid_argument, "the input is {} and the output {}; expected equal formats",
                pair.from.format->name, pair.to.format->name);
  if (pair.from.format->packing == pixel::Packing::packed_422)
    return fail(Code::invalid_argument, "{} is not taken here; convert it to another layout first",
                pair.from.format->name);
  if (size == Size::same &&
      (pair.from.width != pair.to.width || pair.from.height != pair.to.height))
    return different_sizes(pair.from, pair.to);
  if (pair.from.data == pair.to.data)
    return fail(Code::invalid_argument,
                "input and output lie in the same memory; use two pictures");
  parts_.push_back([pair, work = std::move(work)] { work(pair.from, pair.to); });
  return {};
}

Status VpcJob::add_pictures(std::span<const PictureSpec> from, const PictureSpec& to,
                            WorkOnMany work) {
  ANYNPU_ASSIGN(const auto target, take(to, "output", device::Access::write));
  if (target.format->packing == pixel::Packing::packed_422)
    return fail(Code::invalid_argument, "{} is not taken here; convert it to another layout first",
                target.format->name);
  std::vector<pixel::Picture> sources;
  for (const PictureSpec& spec : from) {
    ANYNPU_ASSIGN(sources.emplace_back(), take(spec, "input", device::Access::read));
    if (sources.back().format != target.format)
      return fail(Code::invalid_argument,
                  "an input is {} and the output {}; expected equal formats",
                  sources.back().format->name, target.format->name);
  }
  parts_.push_back([sources, target, work = std::move(work)] { work(sources, target); });
  return {};
}

void VpcJob::run() const {
  if (parts_.size() == 1) return parts_[0]();
  ThreadPool::instance().parallel_for(parts_.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) parts_[i]();
  });
}

Status submit_vpc(std::shared_ptr<VpcJob> job, std::shared_ptr<void> keep, device::Stream& stream) {
  const uint64_t bytes = job->bytes();
  return stream.submit({kVpcTask, bytes},
                       [job = std::move(job), keep = std::move(keep)]() -> Status {
                         job->run();
                         return {};
                       });
}

}  // namespace anynpu::media
