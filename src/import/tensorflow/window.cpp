// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/window.h"

namespace anynpu::tensorflow {

namespace {

constexpr int64_t kMostSteps = 1 << 30;

// explicit_paddings: two entries for each axis in the order of data_format.
Ints explicit_pads(Builder& b, size_t rank, bool last) {
  const Ints given = b.ints("explicit_paddings");
  Ints pads;
  if (given.size() != rank * 2) {
    b.refuse(Code::invalid_argument, "explicit_paddings has {} entries, expected {}", given.size(),
             rank * 2);
    return Ints((rank - 2) * 2, 0);
  }
  for (size_t end = 0; end < 2; ++end) {
    for (size_t a = 0; a + 2 < rank; ++a) {
      const int64_t pad = given[(a + (last ? 1 : 2)) * 2 + end];
      if (pad < 0 || pad > kMostSteps)
        b.refuse(Code::invalid_argument, "explicit_paddings has the entry {}, expected 0 to {}",
                 pad, kMostSteps);
      pads.push_back(pad);
    }
  }
  return pads;
}

}  // namespace

Ints spatial_entries(Builder& b, std::string_view name, Ints list, size_t rank, bool last) {
  if (list.empty()) return Ints(rank - 2, 1);
  if (list.size() != rank) {
    b.refuse(Code::invalid_argument, "'{}' has {} entries, expected {}", name, list.size(), rank);
    return Ints(rank - 2, 1);
  }
  const int64_t batch = list[0], channels = list[last ? rank - 1 : 1];
  if (batch != 1 || channels != 1) {
    b.refuse(Code::unsupported_feature, "'{}' is {} and {} for batch and channels, expected 1",
             name, batch, channels);
  }
  for (int64_t entry : list) {
    if (entry < 1 || entry > kMostSteps)
      b.refuse(Code::invalid_argument, "'{}' has the entry {}, expected 1 to {}", name, entry,
               kMostSteps);
  }
  list.erase(list.begin());
  list.erase(last ? list.end() - 1 : list.begin());
  return list;
}

NodeAttrs window_attrs(Builder& b, size_t rank, Window kind) {
  const bool last = b.channels_last();
  NodeAttrs attrs;
  const bool by_input = b.type() == "MaxPoolV2" || b.type() == "AvgPoolV2";
  attrs["strides"] =
      spatial_entries(b, "strides", by_input ? b.in_values(2) : b.ints("strides"), rank, last);
  if (kind == Window::with_dilations)
    attrs["dilations"] = spatial_entries(b, "dilations", b.ints("dilations"), rank, last);
  if (kind == Window::of_pooling)
    attrs["kernel_shape"] =
        spatial_entries(b, "ksize", by_input ? b.in_values(1) : b.ints("ksize"), rank, last);
  const std::string padding = b.word("padding", "VALID", {"SAME", "VALID", "EXPLICIT"});
  if (padding == "SAME") {
    attrs["auto_pad"] = std::string("SAME_UPPER");
  } else {
    attrs["pads"] = padding == "EXPLICIT" ? explicit_pads(b, rank, last) : Ints((rank - 2) * 2, 0);
  }
  return attrs;
}

}  // namespace anynpu::tensorflow
