// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_channel.h"

#include "media/support.h"
#include "service/media/wait.h"

namespace anynpu::media {
namespace {

constinit device::TaskKind kChannelJob{"vpc", device::Engine::vpc};

// Numbers that the fixed-point arithmetic of conversions can hold.
Status check_coefficients(const pixel::Matrix& matrix) {
  for (double value : matrix.m)
    if (!(value >= -16 && value <= 16))
      return fail(Code::invalid_argument, "a coefficient is {}; expected -16 to 16", value);
  for (double value : matrix.bias)
    if (!(value >= -1024 && value <= 1024))
      return fail(Code::invalid_argument, "a bias is {}; expected -1024 to 1024", value);
  return {};
}

}  // namespace

ChannelTable<VpcChannel>& vpc_channels() {
  static auto& all = *new ChannelTable<VpcChannel>("VPC", 512);
  return all;
}

Result<int32_t> create_vpc_channel() {
  const int32_t number = vpc_channels().free_number();
  ANYNPU_TRY(vpc_channels().create(number, VpcChannel::open));
  return number;
}

Result<std::shared_ptr<VpcChannel>> VpcChannel::open() {
  ANYNPU_TRY(check_support(Unit::vpc, Version::v2));
  ANYNPU_ASSIGN(auto stream, ChannelStream::make());
  return std::make_shared<VpcChannel>(std::move(stream));
}

Result<uint32_t> VpcChannel::run(int32_t milliseconds, const std::function<Status(VpcJob&)>& add) {
  if (milliseconds < -1)
    return fail(Code::invalid_argument, "the time is {} ms; expected -1 or more", milliseconds);
  auto job = std::make_shared<VpcJob>(Version::v2, matrix().matrix);
  ANYNPU_TRY(add(*job));
  return submit(std::move(job));
}

Result<uint32_t> VpcChannel::submit(std::shared_ptr<VpcJob> job) {
  uint32_t id;
  {
    const std::lock_guard lock(mutex_);
    id = next_++;
    jobs_[id] = false;
  }
  const uint64_t bytes = job->bytes();
  ANYNPU_TRY(stream_->submit({kChannelJob, bytes},
                             [self = shared_from_this(), job = std::move(job), id]() -> Status {
                               job->run();
                               if (!self->board_->empty())
                                 for (const pixel::Picture& output : job->outputs())
                                   self->board_->draw(output, job->matrix());
                               self->finish(id);
                               return {};
                             }));
  return id;
}

void VpcChannel::finish(uint32_t job) {
  const std::lock_guard lock(mutex_);
  jobs_[job] = true;
  changed_.notify_all();
}

Status VpcChannel::wait(uint32_t job, int32_t milliseconds) {
  std::unique_lock lock(mutex_);
  // Another thread may fetch the result meanwhile.
  const auto ready = [&] {
    const auto at = jobs_.find(job);
    return at == jobs_.end() || at->second;
  };
  ANYNPU_TRY(wait_until(changed_, lock, milliseconds, ready, "the task did not finish"));
  if (jobs_.erase(job) == 0)
    return fail(Code::not_found,
                "the channel has no task {}: never submitted, or its result was fetched already",
                job);
  changed_.notify_all();
  return {};
}

Status VpcChannel::set_matrix(const ChannelMatrix& matrix) {
  ChannelMatrix next = matrix;
  if (matrix.number == ChannelMatrix::kOwn) {
    ANYNPU_TRY(check_coefficients(matrix.matrix.to_rgb));
    ANYNPU_TRY(check_coefficients(matrix.matrix.to_yuv));
  } else {
    if (matrix.number >= pixel::kColorMatrices)
      return fail(Code::invalid_argument, "the matrix is {}; expected 0 to {}, or {} (one's own)",
                  static_cast<int32_t>(matrix.number), pixel::kColorMatrices - 1,
                  ChannelMatrix::kOwn);
    next.matrix = pixel::color_matrix(matrix.number);
  }
  const std::lock_guard lock(mutex_);
  matrix_ = next;
  return {};
}

Status VpcChannel::set_stitching(StitchSpec spec, Record record) {
  ANYNPU_TRY(check_stitching(spec));
  const std::lock_guard lock(mutex_);
  stitching_ = std::move(spec);
  stitching_record_ = std::move(record);
  return {};
}

Record VpcChannel::stitching_record() {
  const std::lock_guard lock(mutex_);
  return stitching_record_;
}

Result<uint32_t> VpcChannel::stitch(std::span<const PictureSpec> from, const PictureSpec& to,
                                    int32_t milliseconds) {
  std::optional<StitchSpec> spec;
  {
    const std::lock_guard lock(mutex_);
    spec = stitching_;
  }
  if (!spec)
    return fail(Code::bad_call_order,
                "the channel has no parameters of a round view; call "
                "hi_mpi_vpc_set_roundview_stitching_param first");
  return run(milliseconds, [&](VpcJob& job) { return add_stitching(job, *spec, from, to); });
}

ChannelMatrix VpcChannel::matrix() {
  const std::lock_guard lock(mutex_);
  return matrix_;
}

}  // namespace anynpu::media
