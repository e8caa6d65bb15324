// SPDX-License-Identifier: Apache-2.0
// A picture channel: opened before work is submitted and closed afterwards. Closing waits for the
// work submitted through it, as documented. Thread-safe.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/result.h"

namespace anynpu::media {

class PictureChannel : public std::enable_shared_from_this<PictureChannel> {
 public:
  // Counts one piece of work; kept by the task, gone when the task is gone.
  class Use {
   public:
    explicit Use(std::shared_ptr<PictureChannel> channel) : channel_(std::move(channel)) {}
    Use(Use&&) = default;
    Use& operator=(Use&&) = default;
    ~Use();

   private:
    std::shared_ptr<PictureChannel> channel_;
  };

  Status open();
  // Fails when it is not open.
  Result<Use> use();
  // Waits for all uses; new ones are refused meanwhile. Inside a callback, which may block the
  // work, it fails instead of waiting, and the channel stays open.
  Status close();
  bool is_open() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  bool open_ = false;
  int uses_ = 0;
};

}  // namespace anynpu::media
