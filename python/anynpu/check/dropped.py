# SPDX-License-Identifier: Apache-2.0
"""Called by libanynpu_check.so when a call has failed: does the program look at its code?

The code is the result of the call, or the last item of a tuple. It is not looked at when the
statement drops it, takes another item out of the tuple, or stores it in a variable that is assigned
again, or left, on every way on from there without being read."""
import dis

JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
ENDS = frozenset(("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"))
NO_WAY_ON = ENDS | {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE",
                    "JUMP_BACKWARD_NO_INTERRUPT"}
NOTHING = frozenset(("CACHE", "NOP", "EXTENDED_ARG", "RESUME", "PRECALL", "NOT_TAKEN"))


def result_is_dropped(frame):
    """True when the code that the call returns cannot be read any more."""
    code = [one for one in dis.get_instructions(frame.f_code) if one.opname not in NOTHING]
    at = next((i + 1 for i, one in enumerate(code) if one.offset == frame.f_lasti), None)
    if at is None or at >= len(code):
        return False
    name = stored_name(code, at)
    if name is None:
        return is_dropped_at_once(code, at)
    end, variable, is_local = name
    if is_read_elsewhere(frame.f_code, variable, is_local):
        return False
    return not can_be_read(code, end, variable)


def is_dropped_at_once(code, at):
    """`f()` as a statement, and `f()[0]`."""
    if code[at].opname == "POP_TOP":
        return True
    if at + 1 >= len(code) or not code[at].opname.startswith("LOAD_"):
        return False
    index = code[at + 1]
    is_item = index.opname == "BINARY_SUBSCR" or (index.opname == "BINARY_OP"
                                                  and index.argrepr == "[]")
    return is_item and code[at].argval == 0


def stored_name(code, at):
    """Where the code of the call goes: (next instruction, variable, whether it is local)."""
    count = 1
    if code[at].opname == "UNPACK_SEQUENCE":
        count, at = code[at].arg, at + 1
    targets = []  # of the stores, in the order of the items
    while len(targets) < count and at < len(code) and code[at].opname.startswith("STORE_"):
        names = code[at].argval
        names = names if isinstance(names, tuple) else (names,)
        targets += [(name, code[at].opname) for name in names]
        at += 1
    if len(targets) != count or not targets[-1][1].startswith(
            ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL")) or "LOAD" in targets[-1][1]:
        return None
    return at, targets[-1][0], targets[-1][1].startswith("STORE_FAST")


def is_read_elsewhere(code, variable, is_local):
    """Functions inside can read it; a variable of a module can be read by all of its functions."""
    if not is_local and code.co_name != "<module>":
        return True  # global: any function may read it
    return any(variable in inner.co_names or variable in inner.co_freevars
               or is_read_elsewhere(inner, variable, is_local)
               for inner in code.co_consts if hasattr(inner, "co_names"))


def names_of(instruction):
    value = instruction.argval
    return value if isinstance(value, tuple) else (value,)


def can_be_read(code, start, variable):
    """Whether a way from `start` reads the variable before it is assigned again."""
    place = {one.offset: i for i, one in enumerate(code)}
    todo, seen = [start, *handlers(code)], set()
    while todo:
        at = todo.pop()
        while at < len(code) and at not in seen:
            seen.add(at)
            one = code[at]
            if variable in names_of(one):
                if one.opname.startswith(("LOAD_", "STORE_FAST_LOAD")):
                    return True
                if one.opname.startswith(("STORE_", "DELETE_")):
                    break
            if one.opcode in JUMPS:
                todo += [place[at_offset] for at_offset in (one.argval,) if at_offset in place]
            if one.opname in NO_WAY_ON:
                break
            at += 1
    return False


def handlers(code):
    """The beginnings of except and finally blocks."""
    return [i for i, one in enumerate(code) if one.opname == "PUSH_EXC_INFO"]
