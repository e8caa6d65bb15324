# SPDX-License-Identifier: Apache-2.0
"""Called by libanynpu_check.so when a call has failed: does the program look at its result?"""
import dis


def result_is_dropped(frame):
    """True when the calling statement consists of the call only."""
    called = False
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.opname == "CACHE":
            continue
        if called:
            return instruction.opname == "POP_TOP"
        called = instruction.offset == frame.f_lasti
    return False
