// SPDX-License-Identifier: Apache-2.0
#include "prof/subscription.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "base/memory_probe.h"
#include "base/quiet_write.h"
#include "prof/collector.h"
#include "prof/ownership.h"

namespace anynpu::prof {

namespace {
constexpr int kPatienceMs = 5000;  // for a reader that has stopped reading
constexpr size_t kWholeRecords = PIPE_BUF / sizeof(OpRecord);  // written in one piece or not at all
}  // namespace

class Pipe {
 public:
  explicit Pipe(int fd) : fd_(fd) {}

  void write(std::span<const OpRecord> records) {
    while (!records.empty() && !given_up_) {
      const size_t count = std::min(records.size(), kWholeRecords);
      pollfd wait{fd_, POLLOUT, 0};
      const int ready = ::poll(&wait, 1, kPatienceMs);
      const ssize_t bytes = static_cast<ssize_t>(count * sizeof(OpRecord));
      const QuietWrite quiet;  // the reader may have gone, and this may be the program's thread
      if (ready != 1 || (wait.revents & (POLLERR | POLLNVAL)) ||
          ::write(fd_, records.data(), static_cast<size_t>(bytes)) != bytes) {
        give_up(ready);
        break;
      }
      records = records.subspan(count);
    }
    missed_ += records.size();
  }
  void open() { ++writers_; }
  // The library closes the pipe for the last writer, so that its reader sees the end.
  void close() {
    if (--writers_ > 0 || fd_ < 0) return;
    if (missed_ > 0) {
      ANYNPU_LOG(warning, "the pipe {} of a model subscription was closed without {} operators",
                 fd_, missed_);
    }
    ::close(fd_);
    fd_ = -1;
  }
  int fd() const { return fd_; }

 private:
  void give_up(int ready) {
    given_up_ = true;
    ANYNPU_LOG(warning, "the pipe {} of a model subscription is given up: {}; what follows is lost",
               fd_, ready == 0 ? "nobody read from it for 5 seconds" : "it has no reader");
  }

  int fd_;
  int writers_ = 0;
  bool given_up_ = false;
  uint64_t missed_ = 0;  // records, since it was given up
};

namespace {

constexpr trace::Mask kWanted = trace::bit(trace::Category::op) | trace::bit(trace::Category::task);

class Subscriptions : public Sink {
 public:
  Subscriptions() : Sink(kWanted) {}

  struct SubscribedModel {
    int32_t device_id;
    SubscribeConfig config;
  };

  uint64_t pause_ns() const override { return 20'000'000; }  // readers watch

  void take(const trace::ThreadInfo& thread, std::span<const trace::Event> events,
            const ClockLine& clock) override {
    static const trace::NameId execution = trace::intern("model execution");
    const std::lock_guard lock(mutex);
    std::vector<trace::Event>& waiting = waiting_[thread.id];
    bool told = false;  // an operator with a detail is what the program says about a launch
    for (const trace::Event& event : events) {
      const bool after_detail = std::exchange(told, event.phase() == trace::Phase::detail);
      if (event.phase() != trace::Phase::slice) continue;
      if (event.category() == trace::Category::op && !after_detail) waiting.push_back(event);
      if (event.category() != trace::Category::task) continue;
      if (event.name == execution) {
        deliver(static_cast<uint32_t>(event.arg), event.tsc, thread, waiting, clock);
      }
      waiting.clear();
    }
  }

  void take_lost(const trace::ThreadInfo& thread, uint64_t count) override {
    if (thread.id == 0) {
      ANYNPU_LOG(warning,
                 "model subscriptions miss {} events of threads beyond the {} that can record at "
                 "once",
                 count, trace::kMostRings);
    } else {
      ANYNPU_LOG(warning,
                 "model subscriptions miss {} events of thread {}, which recorded faster than they "
                 "could be written",
                 count, thread.id);
    }
  }

  std::mutex mutex;
  std::map<uint32_t, SubscribedModel> models;
  std::set<uint32_t> unloaded;  // ended by an unload, not yet by the program

 private:
  void deliver(uint32_t model_id, uint64_t begin, const trace::ThreadInfo& thread,
               std::span<const trace::Event> ops, const ClockLine& clock) {
    const auto found = models.find(model_id);
    if (found == models.end()) return;
    std::vector<OpRecord> records;
    for (const trace::Event& op : ops) {
      if (op.tsc < begin) continue;
      OpRecord record{};
      record.model_id = model_id;
      record.thread_id = static_cast<uint32_t>(thread.id);
      record.op = op.name | op.arg << 32;
      record.start = clock.to_ns(op.tsc) / 1000;
      record.end = clock.to_ns(op.tsc + op.duration) / 1000;
      record.duration = record.end - record.start;
      record.execution_time = record.duration;
      record.device_id = static_cast<uint32_t>(found->second.device_id);
      record.checksum = crc32c(std::as_bytes(std::span(&record, 1)).subspan(4));
      records.push_back(record);
    }
    found->second.config.pipe->write(records);
  }

  std::map<uint64_t, std::vector<trace::Event>> waiting_;  // by thread
};

const std::shared_ptr<Subscriptions>& subscriptions() {
  static auto* one = new std::shared_ptr<Subscriptions>(std::make_shared<Subscriptions>());
  return *one;
}

// Everything recorded so far is written; then the subscription is removed.
bool end_subscription(uint32_t model_id) {
  Subscriptions& all = *subscriptions();
  {
    const std::lock_guard lock(all.mutex);
    if (!all.models.contains(model_id)) return false;
  }
  Collector::instance().drain();
  bool last = false;
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.models.find(model_id);
    if (found == all.models.end()) return false;
    found->second.config.pipe->close();
    all.models.erase(found);
    last = all.models.empty();
  }
  if (last) {
    Collector::instance().remove(subscriptions());
    release(Owner::subscription);
  }
  return true;
}

}  // namespace

Result<SubscribeConfig> make_subscribe_config(int fd, bool times, uint32_t metrics) {
  const int flags = fd >= 0 ? ::fcntl(fd, F_GETFL) : -1;
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
    return fail(Code::invalid_argument,
                "fd is {}, which is not open for writing; pass the write end of a pipe", fd);
  }
  return SubscribeConfig{std::make_shared<Pipe>(fd), fd, times, metrics};
}

Status subscribe(uint32_t model_id, int32_t device_id, const SubscribeConfig& config) {
  Subscriptions& all = *subscriptions();
  bool first = false;
  {
    const std::lock_guard lock(all.mutex);
    if (all.models.contains(model_id)) {
      return fail(Code::already_exists,
                  "model {} is subscribed already; call aclprofModelUnSubscribe first", model_id);
    }
    for (const auto& [id, entry] : all.models) {
      if (entry.device_id != device_id ||
          (entry.config.times == config.times && entry.config.metrics == config.metrics))
        continue;
      return fail(Code::invalid_config,
                  "model {} on the same device {} is subscribed with other settings; use the same "
                  "settings for both",
                  id, device_id);
    }
    if (config.pipe->fd() < 0) {
      return fail(Code::invalid_argument,
                  "the pipe of this configuration was closed by an earlier unsubscribe; make a new "
                  "pipe and configuration");
    }
    first = all.models.empty();
    all.unloaded.erase(model_id);
    config.pipe->open();
    all.models[model_id] = {device_id, config};
  }
  if (!first) return {};
  Status status = Collector::instance().add(subscriptions());
  if (!status.ok()) {
    const std::lock_guard lock(all.mutex);
    all.models.erase(model_id);
  }
  return status;
}

Status unsubscribe(uint32_t model_id) {
  if (end_subscription(model_id)) return {};
  Subscriptions& all = *subscriptions();
  const std::lock_guard lock(all.mutex);
  if (all.unloaded.erase(model_id) > 0) return {};
  return fail(Code::not_found,
              "model {} is not subscribed; pass a model that aclprofModelSubscribe was called with",
              model_id);
}

void model_unloaded(uint32_t model_id) {
  if (owner() != Owner::subscription || !end_subscription(model_id)) return;
  Subscriptions& all = *subscriptions();
  const std::lock_guard lock(all.mutex);
  all.unloaded.insert(model_id);
}

Result<uint32_t> count_records(const void* data, size_t bytes) {
  if (!data || bytes == 0 || bytes % sizeof(OpRecord) != 0) {
    return fail(
        Code::invalid_argument,
        "{} bytes at {} are no whole operator records; pass what was read from the pipe, in "
        "pieces of a multiple of {} bytes (aclprofGetOpDescSize)",
        bytes, data, sizeof(OpRecord));
  }
  if (!probe_readable(data, bytes)) {
    return fail(Code::invalid_argument, "{} bytes at {} cannot be read; pass the data of the pipe",
                bytes, data);
  }
  return static_cast<uint32_t>(bytes / sizeof(OpRecord));
}

Result<OpRecord> read_record(const void* data, size_t bytes, uint32_t index) {
  ANYNPU_ASSIGN(const uint32_t count, count_records(data, bytes));
  if (index >= count) {
    return fail(Code::invalid_argument, "index is {}, but there are {} operators; use one below",
                index, count);
  }
  OpRecord record;
  std::memcpy(&record, static_cast<const std::byte*>(data) + index * sizeof record, sizeof record);
  if (record.checksum != crc32c(std::as_bytes(std::span(&record, 1)).subspan(4))) {
    return fail(
        Code::invalid_argument,
        "record {} was overwritten or did not come from a subscription; pass the data as it "
        "was read from the pipe",
        index);
  }
  return record;
}

std::string_view name_of(const OpRecord& record) {
  return trace::name_of(static_cast<trace::NameId>(record.op));
}

std::string_view type_of(const OpRecord& record) {
  const std::string_view text = trace::name_of(static_cast<trace::NameId>(record.op >> 32));
  return text.substr(0, text.find('\t'));
}

}  // namespace anynpu::prof
