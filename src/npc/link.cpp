// SPDX-License-Identifier: Apache-2.0
// The loader: sections of an object to memory of the cluster, symbols to addresses, relocations.
#include <algorithm>
#include <cstring>
#include <set>

#include "base/align.h"
#include "npc/debug_info.h"
#include "npc/elf.h"
#include "npc/image.h"
#include "npc/relocate.h"

namespace anynpu::npc {

namespace {

constexpr uint64_t kMostCode = 64u << 20;
constexpr uint64_t kMostGlobal = 1u << 30;
constexpr size_t kMostWritable = 64;

enum class Region : uint8_t { skip, code, constant, data, thread, shared, local };

struct Placed {
  size_t section = 0;
  Region region = Region::skip;
  uint32_t address = 0;
  std::vector<std::byte> contents;  // empty for sections of zeros
};

Region region_of(const ElfSection& s) {
  if (!s.has(ElfSection::kAlloc) || s.bytes == 0) return Region::skip;
  if (s.has(ElfSection::kExecute)) return Region::code;
  if (s.has(ElfSection::kThread)) return Region::thread;
  if (s.name.starts_with(".shared")) return Region::shared;
  if (s.name.starts_with(".local") || s.name.starts_with(".imb")) return Region::local;
  return s.has(ElfSection::kWrite) ? Region::data : Region::constant;
}

class Linker {
 public:
  Linker(std::span<const std::byte> object, std::shared_ptr<Memory> memory)
      : memory_(std::move(memory)), image_(std::make_unique<Image>()) {
    image_->object.assign(object.begin(), object.end());
  }

  Result<std::unique_ptr<Image>> run() {
    ANYNPU_ASSIGN(file_, ElfFile::parse(image_->object));
    ANYNPU_TRY(classify());
    ANYNPU_TRY(check_undefined());
    ANYNPU_TRY(lay_out());
    ANYNPU_TRY(relocate_all());
    store();
    collect_symbols();
    collect_addresses();
    return std::move(image_);
  }

 private:
  Status classify() {
    size_t writable = 0;
    for (size_t i = 0; i < file_.sections.size(); ++i) {
      const ElfSection& s = file_.sections[i];
      Placed p{i, region_of(s), 0, {}};
      if (p.region == Region::skip) continue;
      if (p.region == Region::code && (s.has(ElfSection::kWrite) || s.data.empty())) {
        return fail(Code::file_invalid,
                    "device image: code section '{}' is writable or has no contents; load what "
                    "stc-ld.lld -r wrote",
                    s.name);
      }
      writable += p.region == Region::data;
      placed_.push_back(std::move(p));
    }
    if (writable > kMostWritable) {
      return fail(Code::limit_exceeded,
                  "device image: {} writable data sections, at most {} are taken; compile without "
                  "-fdata-sections",
                  writable, kMostWritable);
    }
    if (std::none_of(placed_.begin(), placed_.end(),
                     [](const Placed& p) { return p.region == Region::code; })) {
      return fail(Code::file_invalid, "device image: there is no code in it; compile a kernel");
    }
    return {};
  }

  Status check_undefined() {
    std::set<std::string_view> missing;
    for (const ElfSection& s : file_.sections) {
      if (s.type != ElfSection::kRela || region_of(file_.sections[s.info]) == Region::skip)
        continue;
      for (const ElfRelocation& r : file_.relocations(s)) {
        const ElfSymbol& symbol = file_.symbols[r.symbol];
        if (r.symbol != 0 && symbol.section == ElfSymbol::kUndefined && symbol.binding != 2) {
          missing.insert(symbol.name);
        }
      }
    }
    if (missing.empty()) return {};
    std::string names;
    size_t listed = 0;
    for (const std::string_view name : missing) {
      if (++listed > 8) break;
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return fail(
        Code::unsupported_op,
        "link: {} symbols are not defined: {}{}; link the object with libnpurt_hld.a and with "
        "the objects that define them",
        missing.size(), names, missing.size() > 8 ? ", ..." : "");
  }

  // Addresses inside one region, from `cursor`.
  uint64_t place(Region region, uint64_t cursor) {
    for (Placed& p : placed_) {
      if (p.region != region) continue;
      const ElfSection& s = file_.sections[p.section];
      cursor = (cursor + s.align - 1) & ~uint64_t{s.align - 1};
      p.address = static_cast<uint32_t>(cursor);
      cursor += s.bytes;
      if (cursor > uint64_t{1} << 32) return ~uint64_t{0};  // callers check their limits
    }
    return cursor;
  }

  static uint64_t page(uint64_t bytes) { return round_up(bytes, kPageBytes); }

  Status lay_out() {
    const uint64_t code = place(Region::code, 0);
    const uint64_t constant = place(Region::constant, 0);
    const uint64_t data = place(Region::data, 0);
    const uint64_t thread = place(Region::thread, 0);
    if (code > kMostCode) {
      return fail(Code::file_invalid, "device image: {} bytes of code, at most {} are taken", code,
                  kMostCode);
    }
    if (constant > kMostGlobal || data > kMostGlobal || thread > kMostGlobal / kCores) {
      return fail(Code::out_of_memory, "device image: its data takes more than 1 GiB");
    }
    const uint64_t shared = place(Region::shared, kSharedBase) - kSharedBase;
    const uint64_t local = place(Region::local, kLocalBase) - kLocalBase;
    if (shared > kSharedBytes || local > kLocalBytes) {
      return fail(Code::limit_exceeded,
                  "device image: {} bytes of shared and {} of local data, at most {} and {} fit",
                  shared, local, kSharedBytes, kLocalBytes);
    }
    image_->thread_bytes = static_cast<uint32_t>(round_up(thread, 64));
    const uint64_t total =
        page(code) + page(constant) + page(data) + page(uint64_t{image_->thread_bytes} * kCores);
    ANYNPU_ASSIGN(image_->base, memory_->take(Space::global, total, kReadWrite),
                  "while loading a module");
    image_->memory = memory_;
    image_->bytes = static_cast<uint32_t>(total);
    image_->code_base = image_->base;
    image_->code_bytes = static_cast<uint32_t>(code & ~uint64_t{1});
    constant_base_ = image_->base + static_cast<uint32_t>(page(code));
    image_->constant_base = constant_base_;
    image_->constant_bytes = static_cast<uint32_t>(constant);
    data_base_ = constant_base_ + static_cast<uint32_t>(page(constant));
    image_->thread_base = data_base_ + static_cast<uint32_t>(page(data));
    image_->section_address.assign(file_.sections.size(), 0);
    for (Placed& p : placed_) {
      if (p.region == Region::code) p.address += image_->code_base;
      if (p.region == Region::constant) p.address += constant_base_;
      if (p.region == Region::data) p.address += data_base_;
      image_->section_address[p.section] = p.address;  // thread-local: the offset
      const auto contents = file_.sections[p.section].data;
      p.contents.assign(contents.begin(), contents.end());
    }
    return {};
  }

  uint32_t value_of(uint32_t index) const {
    const ElfSymbol& s = file_.symbols[index];
    if (s.section == ElfSymbol::kUndefined) return 0;
    if (s.section == ElfSymbol::kAbsolute) return s.value;
    return image_->section_address[s.section] + s.value;
  }

  Status relocate_all() {
    for (const ElfSection& s : file_.sections) {
      if (s.type != ElfSection::kRela) continue;
      for (Placed& p : placed_) {
        if (p.section != s.info) continue;
        const RelocationTarget target{p.contents, p.address,
                                      [this](uint32_t symbol) { return value_of(symbol); }};
        ANYNPU_TRY(relocate(file_, s, target), "in section '{}'", file_.sections[s.info].name);
      }
    }
    return {};
  }

  void keep_initial(const Placed& p, std::vector<InitialData>& into) const {
    InitialData data{p.address, p.contents, file_.sections[p.section].bytes};
    const bool zero = std::all_of(data.data.begin(), data.data.end(),
                                  [](std::byte b) { return b == std::byte{0}; });
    if (zero) data.data.clear();
    into.push_back(std::move(data));
  }

  void store() {
    std::memset(memory_->host(image_->base), 0, image_->bytes);
    for (const Placed& p : placed_) {
      if (p.region == Region::shared) {
        keep_initial(p, image_->shared);
      } else if (p.region == Region::local) {
        keep_initial(p, image_->local);
      } else if (p.region == Region::thread) {
        keep_initial(p, image_->thread);
      } else if (!p.contents.empty()) {
        std::memcpy(memory_->host(p.address), p.contents.data(), p.contents.size());
      }
      if (file_.sections[p.section].type == ElfSection::kInitArray) {
        for (size_t at = 0; at + 4 <= p.contents.size(); at += 4) {
          uint32_t function;
          std::memcpy(&function, p.contents.data() + at, 4);
          image_->constructors.push_back(function);
        }
      }
    }
    memory_->protect(image_->base, data_base_ - image_->base, kRead);
    image_->code = decode_all({memory_->host(image_->code_base), image_->code_bytes});
    image_->weights = weigh(image_->code);
  }

  void collect_symbols() {
    for (uint32_t i = 0; i < file_.symbols.size(); ++i) {
      const ElfSymbol& s = file_.symbols[i];
      if (s.section == ElfSymbol::kUndefined || s.section == ElfSymbol::kAbsolute) continue;
      const uint32_t address = value_of(i);
      if (s.type == ElfSymbol::kObject) add_variable(s, address);
      if (s.type != ElfSymbol::kFunction) continue;
      if (address - image_->code_base >= image_->code_bytes || (address & 1)) continue;
      const bool global = s.binding != 0;
      image_->symbols.push_back({address, s.bytes, true, global, std::string(s.name)});
      if (global) image_->kernels.emplace(s.name, address);
    }
    std::sort(image_->symbols.begin(), image_->symbols.end(),
              [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  }

  void add_variable(const ElfSymbol& s, uint32_t address) {
    const uint32_t at = address - image_->base;
    if (s.binding == 0 || at >= image_->bytes || s.bytes > image_->bytes - at) return;
    image_->variables.emplace(s.name, Symbol{address, s.bytes, false, true, std::string(s.name)});
  }

  // Addresses that the program computes with: what the translator must know (image.h).
  void collect_addresses() {
    const auto inside = [this](uint32_t at) { return at - image_->base < image_->bytes; };
    for (const ElfSection& s : file_.sections) {
      if (s.type != ElfSection::kRela || image_->section_address[s.info] == 0) continue;
      for (const ElfRelocation& r : file_.relocations(s)) {
        const RelocationUse use = use_of(r.type);
        if (use == RelocationUse::none) continue;
        const uint32_t value = value_of(r.symbol) + static_cast<uint32_t>(r.addend);
        if (image_->function_starts(value)) image_->address_taken.insert(value);
        const uint32_t at = image_->section_address[s.info] + r.offset - image_->code_base;
        if (at >= image_->code_bytes) continue;
        if (use == RelocationUse::high_part && inside(value)) image_->moving.insert(at);
        if (use == RelocationUse::distance && !inside(value)) image_->fixed_place = true;
      }
    }
  }

  std::shared_ptr<Memory> memory_;
  std::unique_ptr<Image> image_;
  ElfFile file_;
  std::vector<Placed> placed_;
  uint32_t constant_base_ = 0;
  uint32_t data_base_ = 0;
};

}  // namespace

Image::~Image() {
  if (memory) memory->give_back(base, bytes);
}

const Symbol* Image::function_at(uint32_t address) const {
  auto after = std::upper_bound(symbols.begin(), symbols.end(), address,
                                [](uint32_t a, const Symbol& s) { return a < s.address; });
  if (after == symbols.begin()) return nullptr;
  const Symbol& s = *std::prev(after);
  return address - s.address < std::max(s.bytes, 1u) || s.bytes == 0 ? &s : nullptr;
}

bool Image::function_starts(uint32_t address) const {
  const Symbol* symbol = function_at(address);
  return symbol && symbol->address == address;
}

const DebugInfo& Image::debug_info() const {
  std::call_once(debug_once,
                 [this] { debug = std::make_shared<const DebugInfo>(DebugInfo::read(*this)); });
  return *debug;
}

std::string Image::kernel_symbol(std::string_view name) const {
  const uint32_t address = find_kernel(name);
  for (const auto& [symbol, at] : kernels) {
    if (at == address) return symbol;
  }
  return {};
}

std::optional<uint32_t> Image::constant_word(uint32_t address) const {
  if (constant_bytes < 4 || address - constant_base > constant_bytes - 4) return std::nullopt;
  uint32_t word;
  std::memcpy(&word, memory->host(address), 4);
  return word;
}

uint32_t Image::find_kernel(std::string_view name) const {
  if (const auto found = kernels.find(name); found != kernels.end()) return found->second;
  const std::string mangled = "_Z" + std::to_string(name.size()) + std::string(name);
  uint32_t address = 0;
  for (auto k = kernels.lower_bound(mangled); k != kernels.end() && k->first.starts_with(mangled);
       ++k) {
    if (address != 0) return 0;  // overloaded: the plain name does not say which
    address = k->second;
  }
  return address;
}

Result<std::unique_ptr<Image>> link(std::span<const std::byte> object,
                                    const std::shared_ptr<Memory>& memory) {
  return Linker(object, memory).run();
}

}  // namespace anynpu::npc
