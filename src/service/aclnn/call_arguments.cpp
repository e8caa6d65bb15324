// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/call_arguments.h"

#include <cstring>

#include "service/check_pointer.h"

namespace anynpu::service {

using aclnn::Argument;
using aclnn::ArgumentKind;
using aclnn::TensorView;

namespace {

constexpr size_t kLongestText = 4096;

// A format that names axes differently from ours: the elements are stored as in ND.
Status check_format(const TensorView& view, const char* name) {
  switch (view.format) {
    case Format::undefined:
    case Format::nd:
    case Format::nchw:
    case Format::nhwc:
    case Format::hwcn:
    case Format::ndhwc:
    case Format::ncdhw:
    case Format::nc:
    case Format::ncl:
      return {};
    case Format::fractal_nz:
      // What aclnnTransMatmulWeight was given: it stays as it lies. Blocks have two axes more.
      if (view.storage_shape.size() < view.shape.size() + 2) return {};
      [[fallthrough]];
    default:
      return fail(Code::invalid_argument,
                  "{} has the format {}; expected one without blocks, such as ND or NCHW", name,
                  name_of(view.format));
  }
}

}  // namespace

Status ResolvedCall::resolve(const aclnn::Signature& signature, std::span<const RawArgument> raw) {
  signature_ = &signature;
  size_t scalars = 0;
  for (const RawArgument& argument : raw) {
    if (argument.kind == ArgumentKind::scalars && argument.handle) {
      ANYNPU_ASSIGN(auto pin, anynpu::resolve<NnScalars>(argument.handle));
      scalars += pin->items.size();
    }
  }
  scalar_items_.reserve(scalars);  // arguments keep spans of it
  values_.reserve(scalars + raw.size());
  arguments_.reserve(raw.size());
  tensors_.reserve(raw.size());
  held_tensors_.reserve(raw.size());
  size_t listed = 0;
  for (const RawArgument& argument : raw) {
    if (argument.kind != ArgumentKind::tensors || !argument.handle) continue;
    ANYNPU_ASSIGN(auto pin, anynpu::resolve<NnTensors>(argument.handle));
    listed += pin->items.size();
  }
  if (listed > 0) {
    tensors_.reserve(raw.size() + listed);
    held_tensors_.reserve(raw.size() + listed);
  }
  for (size_t i = 0; i < raw.size(); ++i) {
    ANYNPU_TRY(add(raw[i], signature.parameters[i]), "{}", signature.parameters[i]);
  }
  return {};
}

void ResolvedCall::add_tensor(std::shared_ptr<NnTensor> tensor) {
  tensors_.push_back(tensor ? &tensor->view : nullptr);
  held_tensors_.push_back(std::move(tensor));
}

Status ResolvedCall::add(const RawArgument& raw, const char* name) {
  Argument& argument = arguments_.emplace_back();
  argument.kind = raw.kind;
  argument.first_value = static_cast<uint32_t>(values_.size());
  argument.first_tensor = static_cast<uint32_t>(tensors_.size());
  argument.given = true;
  switch (raw.kind) {
    case ArgumentKind::integer:
      argument.integer = raw.integer;
      values_.push_back(aclnn::scalar_of(raw.integer));
      return {};
    case ArgumentKind::real:
      argument.real = raw.real;
      values_.push_back(aclnn::scalar_of(raw.real));
      return {};
    case ArgumentKind::text: {
      argument.given = raw.text != nullptr;
      if (!raw.text) return {};
      ANYNPU_TRY(check_pointer(raw.text, name));
      const size_t length = strnlen(raw.text, kLongestText);
      if (length == kLongestText) {
        return fail(Code::invalid_argument, "the text is longer than {} bytes", kLongestText - 1);
      }
      argument.text = {raw.text, length};
      return {};
    }
    default:
      break;
  }
  argument.given = raw.handle != 0;
  if (!argument.given) {
    if (raw.kind == ArgumentKind::tensor) add_tensor(nullptr);
    if (raw.kind == ArgumentKind::scalar) values_.push_back({});
    return {};
  }
  const auto hold = [&](auto& pin) -> auto& {
    held_.push_back(pin.share());
    return *pin;
  };
  switch (raw.kind) {
    case ArgumentKind::tensor: {
      ANYNPU_ASSIGN(auto pin, anynpu::resolve<NnTensor>(raw.handle));
      ANYNPU_TRY(check_format(pin->view, name));
      argument.tensor = &pin->view;
      add_tensor(pin.share());
      return {};
    }
    case ArgumentKind::tensors: {
      ANYNPU_ASSIGN(auto pin, anynpu::resolve<NnTensors>(raw.handle));
      for (const auto& item : hold(pin).items) {
        if (item) ANYNPU_TRY(check_format(item->view, name));
        add_tensor(item);
      }
      argument.tensors = {tensors_.data() + argument.first_tensor, pin->items.size()};
      return {};
    }
    case ArgumentKind::scalar: {
      ANYNPU_ASSIGN(auto pin, anynpu::resolve<NnScalar>(raw.handle));
      values_.push_back(pin->value);
      argument.scalar = &values_.back();
      return {};
    }
    case ArgumentKind::scalars: {
      ANYNPU_ASSIGN(auto pin, anynpu::resolve<NnScalars>(raw.handle));
      const size_t first = scalar_items_.size();
      for (const auto& item : pin->items) {
        if (!item) return fail(Code::invalid_handle, "an item of the list is null");
        values_.push_back(item->value);
        scalar_items_.push_back(&values_.back());
      }
      argument.scalars = {scalar_items_.data() + first, pin->items.size()};
      return {};
    }
    case ArgumentKind::ints: {
      ANYNPU_ASSIGN(auto pin, anynpu::resolve<NnInts>(raw.handle));
      argument.ints = hold(pin).values;
      return {};
    }
    case ArgumentKind::floats: {
      ANYNPU_ASSIGN(auto pin, anynpu::resolve<NnFloats>(raw.handle));
      argument.floats = hold(pin).values;
      return {};
    }
    default: {
      ANYNPU_ASSIGN(auto pin, anynpu::resolve<NnBools>(raw.handle));
      argument.bools = hold(pin).values;
      return {};
    }
  }
}

namespace {

struct MemoryRange {
  const std::byte *begin, *end;
};

MemoryRange range_of(const TensorView* view) {
  if (!view || !view->data) return {nullptr, nullptr};
  const std::byte* begin = view->begin();
  return {begin, begin + view->span_bytes()};
}

// Beyond this many tensors only those that begin at one address are told: lists of parameters and
// gradients do not overlap in other ways.
constexpr size_t kMostCompared = 12;

void add_sharing(std::span<const TensorView* const> tensors, NnKey& key) {
  const size_t count = tensors.size();
  if (count <= kMostCompared) {
    MemoryRange ranges[kMostCompared];
    uint64_t word = 0;
    int bit = 0;
    for (size_t j = 0; j < count; ++j) {
      ranges[j] = range_of(tensors[j]);
      for (size_t i = 0; i < j; ++i) {
        const MemoryRange &a = ranges[i], &b = ranges[j];
        // Two bits: overlapping, and from one address on.
        const uint64_t shares = a.begin < b.end && b.begin < a.end ? a.begin == b.begin ? 3 : 1 : 0;
        word |= shares << bit;
        if ((bit += 2) == 64) {
          key.add(word);
          word = 0;
          bit = 0;
        }
      }
    }
    key.add(word);
    return;
  }
  std::unordered_map<const void*, size_t> first;
  for (size_t j = 0; j < count; ++j) {
    if (!tensors[j] || !tensors[j]->data) continue;
    const auto [found, is_new] = first.emplace(tensors[j]->begin(), j);
    if (!is_new) key.add(found->second << 32 | j);
  }
}

}  // namespace

void ResolvedCall::make_key(const aclnn::Row& row, NnKey& key) const {
  key.add(reinterpret_cast<uintptr_t>(&row));
  for (const TensorView* view : tensors_) {
    if (!view) {
      key.add(~uint64_t{0});
      continue;
    }
    const bool contiguous = view->contiguous();
    key.add(static_cast<uint64_t>(static_cast<uint32_t>(view->dtype)) << 32 |
            view->shape.size() << 8 | (contiguous ? 1 : 0));
    for (int64_t extent : view->shape) key.add(static_cast<uint64_t>(extent));
    if (contiguous) continue;
    for (int64_t stride : view->strides) key.add(static_cast<uint64_t>(stride));
  }
  for (const Argument& argument : arguments_) {
    switch (argument.kind) {
      case ArgumentKind::tensor:
      case ArgumentKind::integer:
      case ArgumentKind::real:
        break;
      case ArgumentKind::tensors:
        key.add(argument.tensors.size() << 1 | (argument.given ? 1 : 0));
        break;
      case ArgumentKind::scalar:
        key.add(argument.given ? static_cast<uint32_t>(argument.scalar->dtype) : ~uint64_t{0});
        break;
      case ArgumentKind::scalars:
        key.add(argument.scalars.size());
        for (const aclnn::Scalar* scalar : argument.scalars)
          key.add(static_cast<uint32_t>(scalar->dtype));
        break;
      case ArgumentKind::ints:
        key.add(argument.given ? 1 : 0);
        if (row.is_list(signature_->parameters[static_cast<size_t>(&argument - arguments_.data())]))
          key.add(argument.ints.size());
        else
          key.add(argument.ints);
        break;
      case ArgumentKind::floats:
        key.add(argument.given ? 1 : 0);
        key.add_bytes(argument.floats.data(), argument.floats.size_bytes());
        break;
      case ArgumentKind::bools:
        key.add(argument.given ? 1 : 0);
        key.add_bytes(argument.bools.data(), argument.bools.size_bytes());
        break;
      case ArgumentKind::text:
        key.add_bytes(argument.text.data(), argument.text.size());
        break;
    }
  }
  add_sharing(tensors_, key);
}

}  // namespace anynpu::service
