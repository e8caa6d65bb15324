// SPDX-License-Identifier: Apache-2.0
// Callbacks of video channels, and parameters whose type depends on their number.
#include <cstring>
#include <map>
#include <utility>

#include "wrappers.h"

namespace anynpu::pyacl {
namespace {

// The Python function of each channel description, by handle.
std::map<void*, PyObject*>& functions_of_channels() {
  static auto& functions = *new std::map<void*, PyObject*>;
  return functions;
}

void keep_function(void* channel, PyObject* function) {
  Py_XINCREF(function);
  PyObject*& slot = functions_of_channels()[channel];
  Py_XDECREF(std::exchange(slot, function));
}

PyObject* function_of(void* channel) {
  const auto at = functions_of_channels().find(channel);
  return at != functions_of_channels().end() ? at->second : nullptr;
}

void forget_function(void* channel) {
  const auto at = functions_of_channels().find(channel);
  if (at == functions_of_channels().end()) return;
  PyObject* function = at->second;
  functions_of_channels().erase(at);
  Py_XDECREF(function);
}

// What one frame carries to its callback.
struct Sent {
  PyObject* function;
  PyObject* user_data;

  static Sent* make(void* channel, PyObject* user_data) {
    PyObject* function = function_of(channel);
    auto* sent = new (std::nothrow) Sent{function, user_data};
    if (sent == nullptr) {
      PyErr_NoMemory();
      return nullptr;
    }
    Py_XINCREF(function);
    Py_INCREF(user_data);
    return sent;
  }
  void release() {  // with the GIL
    Py_XDECREF(function);
    Py_DECREF(user_data);
    delete this;
  }
};

void run(const void* first, const void* second, void* user_data) {
  with_gil([=] {
    auto* sent = static_cast<Sent*>(user_data);
    if (sent == nullptr) return;
    if (sent->function != nullptr) {
      PyObject* args = Py_BuildValue("(NNO)", to_python(first), to_python(second), sent->user_data);
      Py_XDECREF(call_back(sent->function, args));
    }
    sent->release();
  });
}
void run_decoded(acldvppStreamDesc* input, acldvppPicDesc* output, void* user_data) {
  run(input, output, user_data);
}
void run_encoded(acldvppPicDesc* input, acldvppStreamDesc* output, void* user_data) {
  run(input, output, user_data);
}

// None and 0 remove a callback.
bool take_callback(const ArgumentSource& at, PyObject* from, PyObject** to) {
  *to = PyCallable_Check(from) ? from : nullptr;
  if (*to != nullptr || from == Py_None || (PyLong_Check(from) && PyObject_Not(from) == 1))
    return true;
  return fail_type(at, from, "a function");
}

template <typename Channel, typename Callback>
PyObject* set_callback(const Function& self, PyObject* const* argv, int position,
                       aclError (*set)(Channel*, Callback), Callback trampoline) {
  void* channel{};
  PyObject* function = nullptr;
  if (!take({self, 0, "channel_desc"}, argv[0], &channel) ||
      !take_callback({self, position, "callback"}, argv[position], &function))
    return nullptr;
  const aclError ret =
      set(as<Channel*>(channel), function != nullptr ? trampoline : static_cast<Callback>(nullptr));
  if (ret == ACL_SUCCESS) keep_function(channel, function);
  return give(ret);
}

PyObject* callback_or_none(void* channel) {
  PyObject* function = function_of(channel);
  PyObject* result = function != nullptr ? function : Py_None;
  Py_INCREF(result);
  return result;
}

// Which parameters are not uint32_t.
struct Widths {
  int64_t wide;      // uint64_t
  int64_t callback;  // -1: none
  int64_t pointer;   // -1: none
};

template <typename Channel, typename Type>
PyObject* set_value(const Function& self, PyObject* const* argv, void* channel, int32_t type,
                    const Widths& widths, aclError (*set)(Channel*, Type, size_t, const void*)) {
  const ArgumentSource at{self, 2, "param"};
  const auto number = static_cast<Type>(type);
  if (type == widths.wide || type == widths.pointer) {
    uint64_t value{};
    if (!take(at, argv[2], &value)) return nullptr;
    return give(set(as<Channel*>(channel), number, sizeof value, &value));
  }
  uint32_t value{};
  if (!take(at, argv[2], &value)) return nullptr;
  return give(set(as<Channel*>(channel), number, sizeof value, &value));
}

template <typename Channel, typename Type>
PyObject* get_value(void* channel, int32_t type, const Widths& widths,
                    aclError (*get)(const Channel*, Type, size_t, size_t*, void*)) {
  uint64_t value = 0;
  size_t written = 0;
  const aclError ret =
      get(as<const Channel*>(channel), static_cast<Type>(type), sizeof value, &written, &value);
  if (type == widths.callback) return give(callback_or_none(channel), ret);
  return give(value, ret);
}

constexpr Widths kDvpp{ACL_DVPP_CHANNEL_ID_UINT64, -1, -1};
constexpr Widths kVdec{ACL_VDEC_THREAD_ID_UINT64, ACL_VDEC_CALLBACK_PTR, -1};
constexpr Widths kVenc{ACL_VENC_THREAD_ID_UINT64, ACL_VENC_CALLBACK_PTR, ACL_VENC_BUF_ADDR_PTR};

bool take_channel_and_type(const Function& self, PyObject* const* argv, Py_ssize_t argc,
                           void** channel, int32_t* type) {
  return self.takes(argc) && take({self, 0, "channel_desc"}, argv[0], channel) &&
         take({self, 1, "param_type"}, argv[1], type);
}

}  // namespace

PyObject* media_vdec_set_channel_desc_callback(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_vdec_set_channel_desc_callback;
  if (!self.takes(argc)) return nullptr;
  return set_callback(self, argv, 1, aclvdecSetChannelDescCallback, run_decoded);
}

PyObject* media_venc_set_channel_desc_callback(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_venc_set_channel_desc_callback;
  if (!self.takes(argc)) return nullptr;
  return set_callback(self, argv, 1, aclvencSetChannelDescCallback, run_encoded);
}

PyObject* media_vdec_get_channel_desc_callback(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_vdec_get_channel_desc_callback;
  void* channel{};
  if (!self.takes(argc) || !take({self, 0, "channel_desc"}, argv[0], &channel)) return nullptr;
  const bool set = aclvdecGetChannelDescCallback(as<aclvdecChannelDesc*>(channel)) != nullptr;
  return callback_or_none(set ? channel : nullptr);
}

PyObject* media_venc_get_channel_desc_callback(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_venc_get_channel_desc_callback;
  void* channel{};
  if (!self.takes(argc) || !take({self, 0, "channel_desc"}, argv[0], &channel)) return nullptr;
  const bool set = aclvencGetChannelDescCallback(as<aclvencChannelDesc*>(channel)) != nullptr;
  return callback_or_none(set ? channel : nullptr);
}

PyObject* media_vdec_destroy_channel_desc(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_vdec_destroy_channel_desc;
  void* channel{};
  if (!self.takes(argc) || !take({self, 0, "channel_desc"}, argv[0], &channel)) return nullptr;
  const aclError ret = aclvdecDestroyChannelDesc(as<aclvdecChannelDesc*>(channel));
  if (ret == ACL_SUCCESS) forget_function(channel);
  return give(ret);
}

PyObject* media_venc_destroy_channel_desc(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_venc_destroy_channel_desc;
  void* channel{};
  if (!self.takes(argc) || !take({self, 0, "channel_desc"}, argv[0], &channel)) return nullptr;
  const aclError ret = aclvencDestroyChannelDesc(as<aclvencChannelDesc*>(channel));
  if (ret == ACL_SUCCESS) forget_function(channel);
  return give(ret);
}

namespace {

// The end of a stream without bytes has no callback.
bool is_only_an_end(const void* input) {
  const auto* packet = static_cast<const acldvppStreamDesc*>(input);
  return input != nullptr && acldvppGetStreamDescSize(packet) == 0 &&
         acldvppGetStreamDescEos(packet) != 0;
}

}  // namespace

PyObject* media_vdec_send_frame(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_vdec_send_frame;
  void *channel{}, *input{}, *output{}, *config{};
  if (!self.takes(argc) || !take({self, 0, "vdec_channel_desc"}, argv[0], &channel) ||
      !take({self, 1, "input_stream_desc"}, argv[1], &input) ||
      !take_or_null({self, 2, "output_pic_desc"}, argv[2], &output) ||
      !take_or_null({self, 3, "frame_config"}, argv[3], &config))
    return nullptr;
  Sent* sent = is_only_an_end(input) ? nullptr : Sent::make(channel, argv[4]);
  if (PyErr_Occurred()) return nullptr;
  const aclError ret = without_gil([&] {
    return aclvdecSendFrame(as<aclvdecChannelDesc*>(channel), as<acldvppStreamDesc*>(input),
                            as<acldvppPicDesc*>(output), as<aclvdecFrameConfig*>(config), sent);
  });
  if (ret != ACL_SUCCESS && sent != nullptr) sent->release();
  return give(ret);
}

PyObject* media_vdec_send_skipped_frame(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_vdec_send_skipped_frame;
  void *channel{}, *input{}, *config{};
  if (!self.takes(argc) || !take({self, 0, "vdec_channel_desc"}, argv[0], &channel) ||
      !take({self, 1, "input_stream_desc"}, argv[1], &input) ||
      !take_or_null({self, 2, "frame_config"}, argv[2], &config))
    return nullptr;
  Sent* sent = is_only_an_end(input) ? nullptr : Sent::make(channel, argv[3]);
  if (PyErr_Occurred()) return nullptr;
  const aclError ret = without_gil([&] {
    return aclvdecSendSkippedFrame(as<aclvdecChannelDesc*>(channel), as<acldvppStreamDesc*>(input),
                                   as<aclvdecFrameConfig*>(config), sent);
  });
  if (ret != ACL_SUCCESS && sent != nullptr) sent->release();
  return give(ret);
}

PyObject* media_venc_send_frame(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_venc_send_frame;
  void *channel{}, *input{}, *reserve{}, *config{};
  if (!self.takes(argc) || !take({self, 0, "venc_channel_desc"}, argv[0], &channel) ||
      !take_or_null({self, 1, "input_pic_desc"}, argv[1], &input) ||
      !take_or_null({self, 2, "reserve"}, argv[2], &reserve) ||
      !take_or_null({self, 3, "frame_config"}, argv[3], &config))
    return nullptr;
  // The end of the stream (no picture) has no callback.
  Sent* sent = input != nullptr ? Sent::make(channel, argv[4]) : nullptr;
  if (sent == nullptr && input != nullptr) return nullptr;
  const aclError ret = without_gil([&] {
    return aclvencSendFrame(as<aclvencChannelDesc*>(channel), as<acldvppPicDesc*>(input), reserve,
                            as<aclvencFrameConfig*>(config), sent);
  });
  if (ret != ACL_SUCCESS && sent != nullptr) sent->release();
  return give(ret);
}

PyObject* media_dvpp_set_channel_desc_param(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_dvpp_set_channel_desc_param;
  void* channel{};
  int32_t type{};
  if (!take_channel_and_type(self, argv, argc, &channel, &type)) return nullptr;
  return set_value(self, argv, channel, type, kDvpp, acldvppSetChannelDescParam);
}

PyObject* media_dvpp_get_channel_desc_param(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_dvpp_get_channel_desc_param;
  void* channel{};
  int32_t type{};
  if (!take_channel_and_type(self, argv, argc, &channel, &type)) return nullptr;
  return get_value(channel, type, kDvpp, acldvppGetChannelDescParam);
}

PyObject* media_vdec_set_channel_desc_param(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_vdec_set_channel_desc_param;
  void* channel{};
  int32_t type{};
  if (!take_channel_and_type(self, argv, argc, &channel, &type)) return nullptr;
  if (type == kVdec.callback)
    return set_callback(self, argv, 2, aclvdecSetChannelDescCallback, run_decoded);
  return set_value(self, argv, channel, type, kVdec, aclvdecSetChannelDescParam);
}

PyObject* media_vdec_get_channel_desc_param(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_vdec_get_channel_desc_param;
  void* channel{};
  int32_t type{};
  if (!take_channel_and_type(self, argv, argc, &channel, &type)) return nullptr;
  return get_value(channel, type, kVdec, aclvdecGetChannelDescParam);
}

PyObject* media_venc_set_channel_desc_param(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_venc_set_channel_desc_param;
  void* channel{};
  int32_t type{};
  if (!take_channel_and_type(self, argv, argc, &channel, &type)) return nullptr;
  if (type == kVenc.callback)
    return set_callback(self, argv, 2, aclvencSetChannelDescCallback, run_encoded);
  return set_value(self, argv, channel, type, kVenc, aclvencSetChannelDescParam);
}

PyObject* media_venc_get_channel_desc_param(PyObject*, PyObject* const* argv, Py_ssize_t argc) {
  constexpr const Function& self = functions::media_venc_get_channel_desc_param;
  void* channel{};
  int32_t type{};
  if (!take_channel_and_type(self, argv, argc, &channel, &type)) return nullptr;
  return get_value(channel, type, kVenc, aclvencGetChannelDescParam);
}

}  // namespace anynpu::pyacl
