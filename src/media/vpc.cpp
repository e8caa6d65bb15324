// SPDX-License-Identifier: Apache-2.0
#include "media/vpc.h"

#include "base/thread_pool.h"

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
  if (access == device::Access::write) bytes_ += memory_.back().bytes;
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
  t.matrix = matrix_;
  t.alpha = part.alpha;
  if (part.crop) {
    ANYNPU_ASSIGN(t.crop, check_region(*part.crop, pair.from, "crop area"));
  }
  if (part.paste) {
    ANYNPU_ASSIGN(t.paste, check_region(*part.paste, pair.to, "paste area"));
  }
  if (part.interpolation >= pixel::kInterpolations) {
    return fail(Code::invalid_argument, "the interpolation is {}; expected 0 to {}",
                part.interpolation, pixel::kInterpolations - 1);
  }
  t.interpolation = static_cast<pixel::Interpolation>(part.interpolation);
  parts_.push_back([t, border = part.border] {
    pixel::transform(t);
    if (border) pixel::fill_border(t.to, t.paste, *border);
  });
  return {};
}

Status VpcJob::add_conversion(const PictureSpec& from, const PictureSpec& to, uint8_t alpha) {
  ANYNPU_ASSIGN(const Pair pair, take_pair(from, to));
  if (pair.from.width != pair.to.width || pair.from.height != pair.to.height)
    return different_sizes(pair.from, pair.to);
  parts_.push_back(
      [pair, alpha, matrix = matrix_] { pixel::convert(pair.from, pair.to, *matrix, alpha); });
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

Status VpcJob::add_pyramid(const PictureSpec& from, const PictureSpec& to,
                           const pixel::Filter5x5& filter, const pixel::Border& border) {
  ANYNPU_ASSIGN(const Pair pair, take_pair(from, to));
  if (pair.from.format != pair.to.format) {
    return fail(Code::invalid_argument, "the input is {} and the output {}; expected equal formats",
                pair.from.format->name, pair.to.format->name);
  }
  if (pair.to.width != (pair.from.width + 1) / 2 || pair.to.height != (pair.from.height + 1) / 2) {
    return fail(Code::invalid_argument, "the output has {}x{} pixels; expected half of {}x{}",
                pair.to.width, pair.to.height, pair.from.width, pair.from.height);
  }
  parts_.push_back(
      [pair, filter, border] { pixel::pyramid_down(pair.from, pair.to, filter, border); });
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
