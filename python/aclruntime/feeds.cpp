// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/feeds.h"

#include "aclruntime/python_types.h"

namespace anynpu::aclruntime {

HeldFeeds::~HeldFeeds() {
  for (Py_buffer& view : views_) PyBuffer_Release(&view);
}

bool HeldFeeds::take_one(PyObject* object, Feed& feed) {
  if (const Tensor* tensor = tensor_of(object)) {
    feed.bytes = tensor->bytes;
    feed.device = tensor->device;
    if (tensor->host) {
      feed.data = tensor->host->data();
      memories_.push_back(tensor->host);
    }
    return true;
  }
  if (PyTuple_Check(object)) {
    unsigned long long address;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(object, "Kn", &address, &bytes)) return false;
    feed.data = reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
    feed.bytes = static_cast<size_t>(bytes);
    return true;
  }
  views_.emplace_back();
  if (PyObject_GetBuffer(object, &views_.back(), PyBUF_C_CONTIGUOUS) != 0) {
    views_.pop_back();
    return false;
  }
  feed.data = views_.back().buf;
  feed.bytes = static_cast<size_t>(views_.back().len);
  return true;
}

bool HeldFeeds::take(PyObject* list, std::vector<Feed>& feeds) {
  PyObject* fast = PySequence_Fast(list, "feeds is a list of inputs");
  if (fast == nullptr) return false;
  bool good = true;
  for (Py_ssize_t i = 0; good && i < PySequence_Fast_GET_SIZE(fast); ++i) {
    Feed feed;
    good = take_one(PySequence_Fast_GET_ITEM(fast, i), feed);
    feeds.push_back(std::move(feed));
  }
  Py_DECREF(fast);
  return good;
}

}  // namespace anynpu::aclruntime
