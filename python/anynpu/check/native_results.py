# SPDX-License-Identifier: Apache-2.0
"""Does native code look at the result of a call? Decided by the instructions after it."""
import re
import shutil
import subprocess

MOST_INSTRUCTIONS = 40
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
# The register of the result, and instructions that overwrite their first (Intel, ARM) operand
# without reading it.
RESULTS = {"x86": re.compile(r"\b(?:[er]?ax|al|ah)\b"), "arm": re.compile(r"\b[wx]0\b")}
WRITES = {"x86": re.compile(r"^(?:mov\w*|lea|set\w+|pop|cvt\w+)$"),
          "arm": re.compile(r"^(?:mov\w*|adrp?|ldr\w*|ldp|add|sub|orr|cset|fcvt\w+)$")}
CALLS = re.compile(r"^(?:call\w*|blr?)$")
RETURNS = re.compile(r"^(?:ret\w*|repz)$")
JUMPS = re.compile(r"^(?:jmp\w*|b)$")
BRANCHES = {"x86": re.compile(r"^j"), "arm": re.compile(r"^(?:b\.\w+|cbn?z|tbn?z)$")}
READ_SILENTLY = ("cdq", "cqo", "cwde", "cdqe")
TARGET = re.compile(r"^(?:0x)?([0-9a-f]+)\b")


def instructions(module, address):
    """(address, mnemonic, operands) from `address` on; none without objdump."""
    tool = shutil.which("objdump")
    if not tool:
        return
    command = [tool, "-d", "--no-show-raw-insn", f"--start-address={address:#x}",
               f"--stop-address={address + 12 * MOST_INSTRUCTIONS:#x}", module]
    with open(module, "rb") as file:
        is_x86 = file.read(20)[18:20] == b"\x3e\x00"
    if is_x86:
        command[1:1] = ["-M", "intel"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    for line in done.stdout.splitlines():
        if match := LINE.match(line):
            yield int(match[1], 16), match[2], match[3].split("#")[0].split("//")[0].strip(), is_x86


def is_dropped(module, address):
    """True when the result register is overwritten on the way from `address` before it is read;
    False where that is not known."""
    try:
        return _is_dropped(module, address, 4)
    except (OSError, subprocess.SubprocessError, ValueError):
        return False


def _is_dropped(module, address, jumps):
    for count, (_, name, operands, is_x86) in enumerate(instructions(module, address)):
        result = RESULTS["x86" if is_x86 else "arm"]
        if count >= MOST_INSTRUCTIONS or RETURNS.match(name):
            return False
        if CALLS.match(name):
            # On x86 the result of that call takes its place; on arm it is the first argument.
            return is_x86 and not result.search(operands)
        if JUMPS.match(name):
            target = TARGET.match(operands)
            return bool(target and jumps) and _is_dropped(module, int(target[1], 16), jumps - 1)
        if name in READ_SILENTLY or BRANCHES["x86" if is_x86 else "arm"].match(name):
            return False  # either way could read it
        if result.search(operands):
            return is_overwritten(name, operands, "x86" if is_x86 else "arm")
    return False


def is_overwritten(name, operands, machine):
    """Whether an instruction that names the result writes all of it without reading it."""
    result = RESULTS[machine]
    first, _, rest = (part.strip() for part in operands.partition(","))
    if name == "xor" and first == rest:
        return True
    return bool(WRITES[machine].match(name) and result.fullmatch(first)
                and first not in ("al", "ah", "ax") and not result.search(rest))
