// SPDX-License-Identifier: Apache-2.0
// Python objects as inputs: tensors, (address, bytes) pairs and everything with the buffer
// protocol. They are held until this object goes, which needs the GIL.
#pragma once

#include "stable_python.h"

#include <deque>
#include <memory>
#include <vector>

#include "aclruntime/binding.h"

namespace anynpu::aclruntime {

class HeldFeeds {
 public:
  HeldFeeds() = default;
  ~HeldFeeds();
  // Adds the elements of a list; false after an exception.
  bool take(PyObject* list, std::vector<Feed>& feeds);

  HeldFeeds(const HeldFeeds&) = delete;
  HeldFeeds& operator=(const HeldFeeds&) = delete;

 private:
  bool take_one(PyObject* object, Feed& feed);
  std::deque<Py_buffer> views_;
  std::vector<std::shared_ptr<HostMemory>> memories_;
};

}  // namespace anynpu::aclruntime
