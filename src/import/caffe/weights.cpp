// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/weights.h"

#include <cstring>

#include "base/protowire.h"

namespace anynpu::caffe {

namespace {

Result<Shape> read_blob_shape(const WireField& message) {
  Shape shape;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.append_to(shape));
  }
  ANYNPU_TRY(reader.status());
  return shape;
}

// BlobProto
Result<Blob> read_blob(const WireField& message) {
  Blob blob;
  Shape old_shape(4, 1);  // num, channels, height, width
  bool has_shape = false, has_old_shape = false;
  std::vector<float> data;
  std::vector<double> doubles;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number >= 1 && field.number <= 4) {
      has_old_shape = true;
      ANYNPU_TRY(field.to(old_shape[field.number - 1]));
    } else if (field.number == 5) {
      ANYNPU_TRY(field.append_to(data));
    } else if (field.number == 7) {
      has_shape = true;
      ANYNPU_ASSIGN(blob.shape, read_blob_shape(field));
    } else if (field.number == 8) {
      ANYNPU_TRY(field.append_to(doubles));
    }
  }
  ANYNPU_TRY(reader.status());
  if (data.empty()) data.assign(doubles.begin(), doubles.end());
  const auto count = static_cast<int64_t>(data.size());
  if (!has_shape) blob.shape = has_old_shape ? old_shape : Shape{count};
  ANYNPU_TRY(check_shape(blob.shape));
  if (element_count(blob.shape) != count) {
    return fail(Code::corrupt_model,
                "a blob of {} elements ({}) holds {} numbers; the file is damaged, or its weights "
                "are stored in a form of another Caffe",
                element_count(blob.shape), to_string(blob.shape), count);
  }
  blob.data = std::make_shared<const std::vector<float>>(std::move(data));
  return blob;
}

// LayerParameter (name 1, blobs 7) or V1LayerParameter (name 4, blobs 6).
Status read_layer(const WireField& message, bool old, Weights& weights) {
  std::string name;
  std::vector<Blob> blobs;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == (old ? 4u : 1u)) {
      ANYNPU_TRY(field.to(name));
    } else if (field.number == (old ? 6u : 7u)) {
      ANYNPU_ASSIGN(Blob blob, read_blob(field), "in blob {} of layer '{}'", blobs.size(), name);
      blobs.push_back(std::move(blob));
    }
  }
  ANYNPU_TRY(reader.status(), "in layer '{}'", name);
  if (!blobs.empty()) weights[name] = std::move(blobs);
  return {};
}

}  // namespace

Result<Weights> read_weights(std::span<const std::byte> bytes) {
  constexpr std::string_view kHdf5 = "\x89HDF";
  if (bytes.size() >= kHdf5.size() && std::memcmp(bytes.data(), kHdf5.data(), kHdf5.size()) == 0) {
    return fail(Code::unsupported_feature,
                "the weights are an HDF5 file; save them as a binary .caffemodel");
  }
  Weights weights;
  size_t layers = 0;
  WireReader reader(bytes);
  WireField field;
  while (reader.next(field)) {
    if (field.number != 2 && field.number != 100) continue;
    ++layers;
    ANYNPU_TRY(read_layer(field, field.number == 2, weights));
  }
  ANYNPU_TRY(reader.status());
  if (layers == 0) {
    return fail(Code::file_invalid,
                "the file ({} bytes) holds no layers; expected a binary .caffemodel", bytes.size());
  }
  return weights;
}

}  // namespace anynpu::caffe
