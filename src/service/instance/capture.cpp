// SPDX-License-Identifier: Apache-2.0
#include "service/instance/capture.h"

#include <algorithm>
#include <set>

#include "device/runtime.h"
#include "service/instance/last_task.h"
#include "service/instance/task_group.h"
#include "service/task_kinds.h"

namespace anynpu::service {

using device::CaptureMode;
using device::Event;
using device::EventUse;
using device::Stream;

namespace {

constexpr uint32_t kSyncFlag = 1, kExternalFlag = 32;

bool is_joining(const Event& event) {
  return event.maker() == Event::Maker::extended && event.flags() == kSyncFlag;
}
bool is_flag(const Event& event) {
  return event.maker() != Event::Maker::extended && event.flags() == kExternalFlag;
}

Status wrong_event(const Event& event, const char* use) {
  return fail(Code::invalid_argument,
              "event {} with flags {:#x} cannot {}; make one with "
              "aclrtCreateEventExWithFlag(ACL_EVENT_SYNC)",
              event.id(), event.flags(), use);
}

Result<CaptureMode> check_mode(int32_t mode) {
  if (mode >= 0 && mode <= 2) return static_cast<CaptureMode>(mode);
  return fail(Code::invalid_argument,
              "the capture mode is {}; expected 0 (GLOBAL), 1 (THREAD_LOCAL) or 2 (RELAXED)", mode);
}

Result<std::shared_ptr<Stream>> stream_to_capture(Handle handle) {
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(handle));
  const auto context = stream->context();
  if (context && context->default_stream() == stream) {
    return fail(Code::default_stream_captured,
                "the default stream cannot be captured; create a stream and capture that");
  }
  if (stream->recorder()) {
    return fail(Code::stream_capturing,
                "stream {} is being captured, bound to a model instance or updating a task group "
                "already; end that first",
                stream->id());
  }
  return stream;
}

Status start(const std::shared_ptr<Instance>& instance, CaptureMode mode,
             const std::shared_ptr<Stream>& stream) {
  auto capture = std::make_shared<Capture>(instance, mode);
  capture->begin(stream);
  return {};
}

}  // namespace

Capture::Capture(std::shared_ptr<Instance> instance, CaptureMode mode)
    : OpenCapture(mode), instance_(std::move(instance)) {}

Capture::~Capture() { close(); }

void Capture::begin(const std::shared_ptr<Stream>& stream) {
  {
    std::lock_guard lock(mutex_);
    lanes_[stream.get()] = instance_->add_lane(stream);
  }
  open_now();
  stream->set_recorder(shared_from_this());
}

bool Capture::open() const {
  std::lock_guard lock(mutex_);
  return !ended_;
}

CaptureStatus Capture::status() const {
  std::lock_guard lock(mutex_);
  if (ended_) return CaptureStatus::none;
  return broken_.ok() ? CaptureStatus::active : CaptureStatus::invalidated;
}

void Capture::invalidate(const Status& why) {
  std::lock_guard lock(mutex_);
  if (broken_.ok() && !ended_) broken_ = why;
}

Status Capture::asked(std::string_view what) {
  Status why = fail(Code::capture_forbids_waiting,
                    "{} is waited for or queried while it is being captured; its tasks run only "
                    "when the captured instance is executed",
                    what);
  invalidate(why);
  return why;
}

bool Capture::caches_op_info() const {
  std::lock_guard lock(mutex_);
  return instance_->lanes()[0].source->cache_op_info != 0;
}

Status Capture::check_active() const {
  if (ended_) return fail(Code::stream_not_capturing, "the capture has ended");
  if (broken_.ok()) return {};
  return fail(Code::capture_invalidated, "the capture was broken before: {}", broken_.message());
}

Result<uint32_t> Capture::lane_of(const Stream& stream) const {
  const auto lane = lanes_.find(&stream);
  if (lane != lanes_.end()) return lane->second;
  return fail(Code::stream_not_capturing, "stream {} is not part of this capture", stream.id());
}

// Task groups hold only launches of single operators, with nothing concurrent.
Status Capture::check_group(uint32_t lane, const device::TaskKind* kind) const {
  if (!group_) return {};
  if (group_->lane != lane) {
    return fail(Code::task_group_interrupted,
                "a task group is open on another stream of this capture; end it first");
  }
  if (kind && is_launch(*kind)) return {};
  return fail(Code::task_kind_refused,
              "a task group takes launches of operators and kernels alone, not {}; end the group "
              "first",
              kind ? kind->text : "this task");
}

Result<uint32_t> Capture::lane_for(Stream& stream, const device::TaskKind* kind) {
  ANYNPU_TRY(check_active());
  ANYNPU_ASSIGN(const uint32_t lane, lane_of(stream));
  ANYNPU_TRY(check_group(lane, kind));
  return lane;
}

Result<uint32_t> Capture::keep(Stream& stream, std::unique_ptr<device::KeptTask> kept) {
  std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const uint32_t lane, lane_for(stream, &kept->kind()));
  RecordedTask& task = instance_->add_task(lane, TaskRole::work);
  task.kind = &kept->kind();
  task.set_work(std::move(kept));
  if (group_) group_->group->add(task);
  note_last_task(instance_, task);
  return task.number;
}

Result<RecordedTask*> Capture::add(Stream& stream, TaskRole role) {
  std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const uint32_t lane, lane_for(stream, nullptr));
  RecordedTask& task = instance_->add_task(lane, role);
  note_last_task(instance_, task);
  return &task;
}

// An operation of an event with streams outside: one a graph, and not in conditions.
Status Capture::check_outside(const Event& event) const {
  if (!is_joining(event)) return wrong_event(event, "be used with the flag EXTERNAL (1)");
  if (instance_->origin() == Instance::Origin::nested) {
    return fail(Code::invalid_argument,
                "an instance of a condition takes no record or wait with the flag EXTERNAL (1)");
  }
  if (!outside_.count(&event)) return {};
  return fail(Code::invalid_argument,
              "event {} has a record or wait with the flag EXTERNAL (1) in this capture already; "
              "use another event",
              event.id());
}

// Asked without a lock: the other capture has one, too.
Status Capture::check_not_of_another(const Event& event) const {
  const auto other = event.captured_in();
  if (!other || other.get() == this || !other->open()) return {};
  return fail(Code::capture_conflict,
              "event {} was recorded in another capture that is open; events join streams of one "
              "capture",
              event.id());
}

Status Capture::record(Stream& stream, Event& event, EventUse use) {
  ANYNPU_TRY(check_not_of_another(event));
  std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const uint32_t lane, lane_for(stream, nullptr));
  if (use == EventUse::outside) {
    ANYNPU_TRY(check_outside(event));
    outside_[&event] = true;
  } else if (!is_joining(event)) {
    return wrong_event(event, "be recorded in a capture");
  }
  RecordedTask& task = instance_->add_task(
      lane, use == EventUse::outside ? TaskRole::record_outside : TaskRole::record);
  task.event = event.shared_from_this();
  task.join = use == EventUse::outside ? instance_->add_mark() : instance_->add_join();
  note_last_task(instance_, task);
  if (use == EventUse::outside) return {};
  joins_[&event] = task.join;
  event.set_captured(shared_from_this());
  return {};
}

Status Capture::wait(Stream& stream, Event& event, EventUse use) {
  ANYNPU_TRY(check_not_of_another(event));
  std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const uint32_t lane, lane_for(stream, nullptr));
  TaskRole role = TaskRole::wait;
  uint32_t join = 0;
  if (use == EventUse::outside) {
    ANYNPU_TRY(check_outside(event));
    outside_[&event] = true;
    role = TaskRole::wait_outside;
    join = instance_->add_mark();
  } else if (is_flag(event)) {
    role = TaskRole::wait_flag;
  } else {
    if (!is_joining(event)) return wrong_event(event, "be waited for in a capture");
    const auto known = joins_.find(&event);
    if (known == joins_.end()) {
      return fail(Code::capture_dependency,
                  "stream {} waits for event {}, which no stream of this capture recorded; record "
                  "it inside the capture first",
                  stream.id(), event.id());
    }
    join = known->second;
  }
  RecordedTask& task = instance_->add_task(lane, role);
  task.event = event.shared_from_this();
  task.join = join;
  note_last_task(instance_, task);
  return {};
}

Status Capture::reset(Stream& stream, Event& event) {
  std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const uint32_t lane, lane_for(stream, nullptr));
  if (!is_flag(event)) {
    return fail(Code::invalid_argument,
                "event {} with flags {:#x} cannot be reset in a capture; expected one of "
                "aclrtCreateEventWithFlag(ACL_EVENT_EXTERNAL)",
                event.id(), event.flags());
  }
  RecordedTask& task = instance_->add_task(lane, TaskRole::reset);
  task.event = event.shared_from_this();
  task.join = UINT32_MAX;
  note_last_task(instance_, task);
  return {};
}

Status Capture::join(Stream& stream, Event& event) {
  const auto context = stream.context();
  if (context && context->default_stream().get() == &stream) {
    return fail(Code::default_stream_captured,
                "the default stream cannot join a capture; create a stream for it");
  }
  const auto shared = stream.shared_from_this();
  {
    std::lock_guard lock(mutex_);
    ANYNPU_TRY(check_active());
    const auto known = joins_.find(&event);
    if (known == joins_.end()) {
      return fail(Code::capture_dependency, "event {} was not recorded in this capture",
                  event.id());
    }
    const uint32_t lane = instance_->add_lane(shared);
    lanes_[&stream] = lane;
    RecordedTask& task = instance_->add_task(lane, TaskRole::wait);
    task.event = event.shared_from_this();
    task.join = known->second;
  }
  shared->set_recorder(shared_from_this());
  return {};
}

Status Capture::may_end(const Stream& stream) {
  std::lock_guard lock(mutex_);
  ANYNPU_ASSIGN(const uint32_t lane, lane_of(stream));
  if (lane != 0) {
    return fail(Code::capture_unmatched,
                "stream {} joined the capture, which began on another stream; end it there",
                stream.id());
  }
  if (mode() != CaptureMode::relaxed && !begun_by_this_thread()) {
    return fail(Code::capture_wrong_thread,
                "the capture of stream {} was begun by another thread; end it there, or begin it "
                "in mode RELAXED (2)",
                stream.id());
  }
  for (const auto& condition : instance_->conditions()) {
    for (const auto& body : condition->bodies) {
      if (body->state() == Instance::State::ready) continue;
      return fail(Code::sub_capture_open,
                  "model instance {} of a condition is not captured to its end yet", body->id());
    }
  }
  return {};
}

// Each stream that joined must come back: its last task is a record that the first stream, or one
// that came back, waits for.
Status Capture::check_joined() const {
  const auto& lanes = instance_->lanes();
  std::set<uint32_t> waited;  // joins that lanes which came back wait for
  std::vector<bool> back(lanes.size());
  std::vector<uint32_t> fresh{0};
  back[0] = true;
  while (!fresh.empty()) {
    for (const uint32_t lane : std::exchange(fresh, {})) {
      for (const auto& task : lanes[lane].tasks) {
        if (task->role == TaskRole::wait) waited.insert(task->join);
      }
    }
    for (uint32_t lane = 1; lane < lanes.size(); ++lane) {
      const RecordedTask& last = *lanes[lane].tasks.back();
      if (back[lane] || last.role != TaskRole::record || !waited.count(last.join)) continue;
      back[lane] = true;
      fresh.push_back(lane);
    }
  }
  for (uint32_t lane = 1; lane < lanes.size(); ++lane) {
    if (back[lane]) continue;
    return fail(Code::stream_unjoined,
                "stream {} joined the capture and did not come back; its last task must be the "
                "record of an event that the first stream waits for",
                lanes[lane].source->id());
  }
  return {};
}

Status Capture::end() {
  Status outcome;
  std::vector<std::shared_ptr<Stream>> streams;
  {
    std::lock_guard lock(mutex_);
    if (!broken_.ok()) {
      outcome = fail(Code::capture_invalidated, "the capture was broken before its end: {}",
                     broken_.message());
    } else if (group_) {
      outcome = fail(Code::task_group_state, "a task group of the capture was not ended");
    } else {
      outcome = check_joined();
    }
    ended_ = true;
    for (const Lane& lane : instance_->lanes()) streams.push_back(lane.source);
  }
  close();
  for (const auto& stream : streams) {
    if (stream->recorder().get() == this) stream->set_recorder(nullptr);
  }
  if (outcome.ok()) instance_->finish();
  return outcome;
}

Status Capture::begin_group(const Stream& stream) {
  std::lock_guard lock(mutex_);
  ANYNPU_TRY(check_active());
  ANYNPU_ASSIGN(const uint32_t lane, lane_of(stream));
  if (group_) {
    return fail(Code::task_group_state,
                "a task group is open in this capture already; end it before the next begins");
  }
  group_ = {std::make_shared<TaskGroup>(instance_), lane};
  return {};
}

Result<std::shared_ptr<TaskGroup>> Capture::end_group(const Stream& stream) {
  std::lock_guard lock(mutex_);
  ANYNPU_TRY(check_active());
  ANYNPU_ASSIGN(const uint32_t lane, lane_of(stream));
  if (!group_ || group_->lane != lane) {
    return fail(Code::task_group_state, "no task group is open on stream {}; begin one there first",
                stream.id());
  }
  auto group = std::move(group_->group);
  group_.reset();
  return group;
}

Result<std::shared_ptr<Capture>> capture_of(const Stream& stream) {
  if (auto capture = std::dynamic_pointer_cast<Capture>(stream.recorder())) return capture;
  return fail(Code::stream_not_capturing,
              "stream {} is not being captured; call aclmdlRICaptureBegin first", stream.id());
}

bool caches_op_info(const Stream& stream) {
  const auto capture = std::dynamic_pointer_cast<Capture>(stream.recorder());
  return capture && capture->caches_op_info();
}

Status begin_capture(Handle handle, int32_t mode_number) {
  ANYNPU_ASSIGN(const CaptureMode mode, check_mode(mode_number));
  ANYNPU_ASSIGN(auto stream, stream_to_capture(handle));
  ANYNPU_ASSIGN(auto instance, Instance::create(Instance::Origin::captured, stream->context()));
  return start(instance, mode, stream);
}

Status begin_capture_into(Handle handle, Handle into, int32_t mode_number) {
  ANYNPU_ASSIGN(const CaptureMode mode, check_mode(mode_number));
  ANYNPU_ASSIGN(auto instance, find_instance(into));
  if (instance->origin() != Instance::Origin::nested || !instance->lanes().empty()) {
    return fail(Code::invalid_argument,
                "model instance {} was not made by aclmdlRIAddCondTask, or is captured already",
                instance->id());
  }
  ANYNPU_ASSIGN(auto stream, stream_to_capture(handle));
  return start(instance, mode, stream);
}

Result<Handle> end_capture(Handle handle) {
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(handle));
  ANYNPU_ASSIGN(auto capture, capture_of(*stream));
  ANYNPU_TRY(capture->may_end(*stream));
  const Status outcome = capture->end();
  const auto& instance = capture->instance();
  if (outcome.ok()) return instance->handle();
  if (instance->origin() == Instance::Origin::captured) instance->release();
  return outcome;
}

Result<CaptureInfo> capture_info(Handle handle) {
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(handle));
  const auto capture = std::dynamic_pointer_cast<Capture>(stream->recorder());
  if (!capture) return CaptureInfo{};
  return CaptureInfo{capture->status(), capture->instance()->handle()};
}

Result<int32_t> exchange_capture_mode(int32_t mode_number) {
  ANYNPU_ASSIGN(const CaptureMode mode, check_mode(mode_number));
  return static_cast<int32_t>(device::exchange_thread_mode(mode));
}

}  // namespace anynpu::service
