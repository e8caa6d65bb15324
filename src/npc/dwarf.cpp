// SPDX-License-Identifier: Apache-2.0
#include "npc/dwarf.h"

#include "npc/elf.h"
#include "npc/image.h"
#include "npc/relocate.h"

namespace anynpu::npc {

std::vector<std::byte> debug_section(const ElfFile& file, const Image& image,
                                     std::string_view name) {
  for (size_t i = 0; i < file.sections.size(); ++i) {
    if (file.sections[i].name != name) continue;
    std::vector<std::byte> bytes(file.sections[i].data.begin(), file.sections[i].data.end());
    const RelocationTarget target{bytes, 0, [&](uint32_t symbol) {
                                    const ElfSymbol& s = file.symbols[symbol];
                                    return s.section < image.section_address.size()
                                               ? image.section_address[s.section] + s.value
                                               : s.value;
                                  }};
    for (const ElfSection& s : file.sections) {
      if (s.type == ElfSection::kRela && s.info == i) relocate_debug(file, s, target);
    }
    return bytes;
  }
  return {};
}

}  // namespace anynpu::npc
