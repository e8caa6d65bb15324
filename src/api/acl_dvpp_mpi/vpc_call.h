// SPDX-License-Identifier: Apache-2.0
// A channel of the picture unit, and the shape of its calls: put work into a job, submit it, give
// its number.
#pragma once

#include "api/acl_dvpp_mpi/mpi.h"
#include "media/vpc.h"

namespace anynpu::mpi {

using media::VpcJob;

class VpcChannel : public std::enable_shared_from_this<VpcChannel> {
 public:
  explicit VpcChannel(OwnStream stream) : stream_(std::move(stream)) {}
  void drain() { (void)stream_->synchronize(); }

  Result<hi_u32> submit(std::shared_ptr<VpcJob> job) {
    hi_u32 id;
    {
      const std::lock_guard lock(mutex_);
      id = next_++;
      tasks_[id] = false;
    }
    const uint64_t bytes = job->bytes();
    ANYNPU_TRY(stream_->submit({task_kind(), bytes},
                               [self = shared_from_this(), job = std::move(job), id]() -> Status {
                                 job->run();
                                 self->finish(id);
                                 return {};
                               }));
    return id;
  }
  Status wait(hi_u32 id, hi_s32 milli_sec) {
    std::unique_lock lock(mutex_);
    // Another thread may fetch the result meanwhile.
    const auto ready = [&] {
      const auto task = tasks_.find(id);
      return task == tasks_.end() || task->second;
    };
    ANYNPU_TRY(wait_until(changed_, lock, milli_sec, ready, "the task did not finish"));
    if (tasks_.erase(id) == 0)
      return fail(Code::not_found,
                  "the channel has no task {}: never submitted, or its result was "
                  "fetched already",
                  id);
    changed_.notify_all();
    return {};
  }

  // The matrix of calls that follow: a number of hi_csc_matrix, and what it stands for.
  void set_matrix(hi_csc_matrix number, const pixel::ColorMatrix& matrix) {
    const std::lock_guard lock(mutex_);
    matrix_ = {number, matrix};
  }
  std::pair<hi_csc_matrix, pixel::ColorMatrix> matrix() {
    const std::lock_guard lock(mutex_);
    return matrix_;
  }

 private:
  static device::TaskKind& task_kind();
  void finish(hi_u32 id) {
    const std::lock_guard lock(mutex_);
    tasks_[id] = true;
    changed_.notify_all();
  }

  OwnStream stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<hi_u32, bool> tasks_;  // whether they are done
  hi_u32 next_ = 0;
  std::pair<hi_csc_matrix, pixel::ColorMatrix> matrix_{HI_CSC_MATRIX_BT601_WIDE,
                                                       pixel::color_matrix(0)};
};

Channels<VpcChannel>& vpc_channels();

// One call: `add` puts its parts into the job.
template <typename Add>
hi_s32 run_vpc(const char* function, hi_vpc_chn chn, hi_u32* task_id, hi_s32 milli_sec, Add&& add) {
  return mpi::enter(function, Module::vpc, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, vpc_channels().find(chn));
    ANYNPU_TRY(check_pointer(task_id, "task_id"));
    if (milli_sec < -1)
      return fail(Code::invalid_argument, "the time is {} ms; expected -1 or more", milli_sec);
    auto job = std::make_shared<VpcJob>(channel->matrix().second);
    ANYNPU_TRY(add(*job));
    ANYNPU_ASSIGN(*task_id, channel->submit(std::move(job)));
    return {};
  });
}

Result<pixel::Border> border_of(hi_vpc_bord_type type, const hi_vpc_scalar& value);

}  // namespace anynpu::mpi
