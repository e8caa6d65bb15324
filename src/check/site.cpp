// SPDX-License-Identifier: Apache-2.0
#include "check/site.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace anynpu::check {

namespace {

constexpr int kMostFrames = 12;
constexpr int kMostNative = 40;

// The few functions of Python that are needed, found in the process: this library is also loaded
// into programs without Python.
struct Python {
  using Object = void;
  int (*is_initialized)();
  int (*is_finalizing)();
  int (*gil_check)();
  Object* (*this_thread)();
  int (*ensure)();
  void (*release)(int);
  Object* (*frame)();
  Object* (*frame_code)(Object*);
  Object* (*frame_back)(Object*);
  int (*frame_line)(Object*);
  Object* (*attribute)(Object*, const char*);
  const char* (*utf8)(Object*);
  void (*increase)(Object*);
  void (*decrease)(Object*);
  Object* (*import)(const char*);
  Object* (*call)(Object*, const char*, const char*, ...);
  int (*is_true)(Object*);
  void (*fetch)(Object**, Object**, Object**);
  void (*restore)(Object*, Object*, Object*);
  void (*clear)();
  bool complete = false;
};

template <typename F>
bool look_up(const char* name, F& into) {
  into = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
  return into != nullptr;
}

const Python& python() {
  static const Python found = [] {
    Python p{};
    if (!look_up("Py_IsInitialized", p.is_initialized)) return p;
    if (!look_up("_Py_IsFinalizing", p.is_finalizing)) look_up("Py_IsFinalizing", p.is_finalizing);
    p.complete =
        p.is_finalizing && look_up("PyGILState_Check", p.gil_check) &&
        look_up("PyGILState_GetThisThreadState", p.this_thread) &&
        look_up("PyGILState_Ensure", p.ensure) && look_up("PyGILState_Release", p.release) &&
        look_up("PyEval_GetFrame", p.frame) && look_up("PyFrame_GetCode", p.frame_code) &&
        look_up("PyFrame_GetBack", p.frame_back) &&
        look_up("PyFrame_GetLineNumber", p.frame_line) &&
        look_up("PyObject_GetAttrString", p.attribute) && look_up("PyUnicode_AsUTF8", p.utf8) &&
        look_up("Py_IncRef", p.increase) && look_up("Py_DecRef", p.decrease) &&
        look_up("PyImport_ImportModule", p.import) && look_up("PyObject_CallMethod", p.call) &&
        look_up("PyObject_IsTrue", p.is_true) && look_up("PyErr_Fetch", p.fetch) &&
        look_up("PyErr_Restore", p.restore) && look_up("PyErr_Clear", p.clear);
    return p;
  }();
  return found;
}

std::atomic<bool> python_seen{false};  // at the end of the program Python is gone again

// Holds Python's lock, and keeps an exception that is under way; false where this thread is none of
// Python's, or Python is ending.
class PythonTurn {
 public:
  PythonTurn() {
    const Python& p = python();
    if (!p.complete || !p.is_initialized() || !p.this_thread()) return;
    if (!p.gil_check()) {
      if (p.is_finalizing()) return;  // asking for the lock would end this thread
      state_ = p.ensure();
      taken_ = true;
    }
    here_ = true;
    python_seen.store(true, std::memory_order_relaxed);
    p.fetch(&type_, &value_, &trace_);
  }
  ~PythonTurn() {
    if (!here_) return;
    python().restore(type_, value_, trace_);
    if (taken_) python().release(state_);
  }
  PythonTurn(const PythonTurn&) = delete;
  PythonTurn& operator=(const PythonTurn&) = delete;
  explicit operator bool() const { return here_; }

 private:
  bool here_ = false, taken_ = false;
  int state_ = 0;
  void *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

std::string text_of(void* object, const char* attribute) {
  const Python& p = python();
  void* value = p.attribute(object, attribute);
  const char* text = value ? p.utf8(value) : nullptr;
  std::string out = text ? text : "";
  if (value) p.decrease(value);
  p.clear();
  return out;
}

Stack python_stack() {
  const Python& p = python();
  Stack stack;
  void* frame = p.frame();
  if (frame) p.increase(frame);
  while (frame) {
    if (stack.size() < kMostFrames) {
      void* code = p.frame_code(frame);
      stack.push_back({text_of(code, "co_filename"), static_cast<uint64_t>(p.frame_line(frame)),
                       text_of(code, "co_name")});
      p.decrease(code);
    }
    void* back = p.frame_back(frame);
    p.decrease(frame);
    frame = back;
  }
  return stack;
}

// The module's absolute path, in case the program changes its folder later.
std::string full_path(const char* name) {
  static std::mutex mutex;
  static auto* known = new std::map<std::string, std::string>;
  const std::lock_guard lock(mutex);
  std::string& path = (*known)[name];
  if (!path.empty()) return path;
  char* real = realpath(name, nullptr);
  path = real ? real : name;
  std::free(real);
  return path;
}

bool is_ours(const std::string& module) {
  const size_t slash = module.rfind('/');
  const std::string name = slash == std::string::npos ? module : module.substr(slash + 1);
  return name.starts_with("libanynpu") || name.starts_with("libascendcl") ||
         name.starts_with("libacl_") || name.starts_with("libopapi") ||
         name.starts_with("libnnopbase") || name.starts_with("libmsprofiler") ||
         name.starts_with("_acl.");
}

// Libraries of frameworks call in the name of a statement that asked for something else; what they
// keep is their own. They come in front of the statement.
void add_framework(Stack& stack) {
  constexpr int kNear = 12;
  void* addresses[kNear];
  const int count = backtrace(addresses, kNear);
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (!dladdr(addresses[i], &info) || !info.dli_fname) continue;
    Frame frame;
    frame.native = true;
    frame.file = full_path(info.dli_fname);
    if (is_ours(frame.file)) continue;
    const std::string name = frame.file.substr(frame.file.rfind('/') + 1);
    if (name.starts_with("libtorch_npu")) stack.insert(stack.begin(), std::move(frame));
    return;
  }
}

// From `fault` on, when it is not null: the instruction that a signal has interrupted.
Stack native_stack(const void* fault) {
  void* addresses[kMostNative];
  const int count = backtrace(addresses, kMostNative);
  int first = 0;
  while (fault && first < count && addresses[first] != fault) ++first;
  if (first == count) first = 0;
  Stack stack;
  for (int i = first; i < count && stack.size() < kMostFrames; ++i) {
    Dl_info info{};
    if (!dladdr(addresses[i], &info) || !info.dli_fname) continue;
    Frame frame;
    frame.native = true;
    frame.file = full_path(info.dli_fname);
    if (is_ours(frame.file)) continue;
    const auto* head = static_cast<const Elf64_Ehdr*>(info.dli_fbase);
    const auto base = head->e_type == ET_EXEC ? 0 : reinterpret_cast<uintptr_t>(info.dli_fbase);
    frame.line = reinterpret_cast<uintptr_t>(addresses[i]) - base;
    if (addresses[i] != fault) --frame.line;  // inside the call, not behind it
    if (info.dli_sname) frame.function = info.dli_sname;
    stack.push_back(std::move(frame));
  }
  return stack;
}

// Whether the call came through the module `acl`: other extension modules look at codes on their
// own.
bool called_by_binding() {
  constexpr int kNear = 8;
  void* addresses[kNear];
  const int count = backtrace(addresses, kNear);
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (!dladdr(addresses[i], &info) || !info.dli_fname) continue;
    const std::string module = info.dli_fname;
    const std::string name = module.substr(module.rfind('/') + 1);
    if (!name.starts_with("libanynpu")) return name.starts_with("_acl.");
  }
  return false;
}

}  // namespace

bool is_in_python() {
  const PythonTurn turn;
  return static_cast<bool>(turn) && python().frame() != nullptr;
}

bool python_is_here() {
  const Python& p = python();
  if (p.complete && p.is_initialized()) python_seen.store(true, std::memory_order_relaxed);
  return python_seen.load(std::memory_order_relaxed);
}

Site current_site(const void* fault) {
  if (const PythonTurn turn; turn) {
    Stack stack = python_stack();
    if (!stack.empty() && fault == nullptr) add_framework(stack);
    if (!stack.empty()) return std::make_shared<const Stack>(std::move(stack));
  }
  return std::make_shared<const Stack>(native_stack(fault));
}

bool result_is_dropped() {
  const PythonTurn turn;
  if (!turn || !called_by_binding()) return false;
  const Python& p = python();
  void* frame = p.frame();
  void* module = frame ? p.import("anynpu.check.dropped") : nullptr;
  void* answer = module ? p.call(module, "result_is_dropped", "O", frame) : nullptr;
  const bool dropped = answer && p.is_true(answer) == 1;
  if (answer) p.decrease(answer);
  if (module) p.decrease(module);
  p.clear();
  return dropped;
}

}  // namespace anynpu::check
