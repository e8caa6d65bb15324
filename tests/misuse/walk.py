# SPDX-License-Identifier: Apache-2.0
"""Runs misuse cases, each in a child of its own, and prints one JSON line per case.

    python -m misuse.walk [--part I/N] [function ...]     (in tests/, with acl importable)

This process only imports acl, so a fork of it starts from nothing: no case sees what another one
did, and a crash or a hang belongs to exactly one call.
"""

import argparse
import faulthandler
import json
import os
import select
import signal
import sys

import acl
from misuse import codes, functions, kinds, models, values

TIME_LIMIT = 120.0  # seconds for one case; only a hang takes so long, even on a busy machine
SYNC_LIMIT_MS = 60000
UNINITIALIZED = codes.documented()["ACL_ERROR_UNINITIALIZE"]


def call(function, args):
    """What the call did: {'outcome': 'ok' | code | 'TypeError' | ..., 'message': ...}."""
    target = acl
    for part in function.name.split(".")[1:]:
        target = getattr(target, part)
    acl.get_recent_err_msg()  # gives and forgets: what comes after belongs to this call
    try:
        result = target(*args)
    except (TypeError, ValueError, OverflowError) as error:
        return {"outcome": type(error).__name__, "message": str(error)}
    message = acl.get_recent_err_msg() or ""
    if "ret" in function.returns:
        code = result[-1] if isinstance(result, tuple) else result
        return {"outcome": "ok" if code == 0 else str(code), "message": message}
    # Without a code the sentence tells: silence is success.
    return {"outcome": f"= {result!r}" if message else "value", "message": message}


def finish_streams(outcome, function, args):
    """Work that was accepted may fail later; that shows at synchronize."""
    for argument, value in zip(function.arguments, args):
        if argument.handle == "aclrtStream" and "destroy" not in function.name:
            acl.get_recent_err_msg()
            ret = acl.rt.synchronize_stream_with_timeout(value, SYNC_LIMIT_MS)
            if ret != 0 and outcome["outcome"] == "ok":
                outcome["outcome"] = f"ok, then {ret}"
                outcome["message"] = acl.get_recent_err_msg() or ""


def run_case(function, kind, name):
    maker = values.Maker(acl)
    if kind == "before init":
        return before_init(function)
    maker.start()
    if kind == "after finalize":
        args = [maker.good(function, a) for a in function.arguments]
        ret = acl.finalize()
        assert ret == 0, f"finalize: {ret}"
        return call(function, args)
    if kind == "argument count":
        return argument_count(function, maker)
    if kind == "too small":
        big = [
            a.type in ("size", "u64") and a.name not in ("index", "value", "flags")
            for a in function.arguments
        ]
        args = []
        for argument, is_size in zip(function.arguments, big):
            if argument.name == name:
                args.append(kinds.wrong(kind, maker, function, argument))
            elif argument.type == "ptr" and not argument.optional:
                args.append(maker.pointer(function, argument, 4 * kinds.BIG))
            else:
                args.append(kinds.BIG if is_size else maker.good(function, argument))
    else:
        args = [maker.good(function, a) for a in function.arguments]
        for i, argument in enumerate(function.arguments):
            if argument.name == name:
                args[i] = (
                    kinds.NotAValue()
                    if kind == "wrong Python type"
                    else kinds.wrong(kind, maker, function, argument)
                )
    if all(not isinstance(a, kinds.NotAValue) for a in args):
        values.prepare(acl, function, args)
    outcome = call(function, args)
    if outcome["outcome"] == "ok":
        finish_streams(outcome, function, args)
    return outcome


def before_init(function):
    """Whether the call was made or came too early; what it says of its stand-ins is no matter."""
    outcome = call(function, stand_ins(function))
    if outcome["outcome"].endswith("Error"):
        return outcome
    early = "before aclInit" in outcome["message"]
    right = outcome["outcome"] == UNINITIALIZED or "ret" not in function.returns
    outcome["outcome"] = "called" if not early else "uninitialised" if right else outcome["outcome"]
    return outcome


def stand_ins(function):
    """Plausible arguments for a call before init, when nothing can be made yet."""
    maker = values.Maker(acl)
    out = []
    for argument in function.arguments:
        if argument.type == "handle":
            out.append(0x1000)
        elif argument.type == "list[handle]":
            out.append([0x1000])
        elif argument.type == "ptr":
            out.append(maker.host_block())
        else:
            out.append(maker.good(function, argument))
    return out


def argument_count(function, maker):
    """One argument too few and one too many; both must be TypeError."""
    args = [maker.good(function, a) for a in function.arguments]
    if function.arguments and function.arguments[-1].required:
        outcome = call(function, args[:-1])
        if outcome["outcome"] != "TypeError":
            return outcome
    return call(function, args + [0])


def in_child(function, kind, name):
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        try:
            faulthandler.enable()
            result = run_case(function, kind, name)
        except BaseException as error:  # noqa: BLE001: whatever it is, it goes into the report
            result = {"outcome": "walker: " + type(error).__name__, "message": str(error)}
        result["length"] = len(result["message"])
        result["message"] = result["message"][:1000]
        os.write(writable, json.dumps(result).encode())
        os._exit(0)
    os.close(writable)
    ready, _, _ = select.select([readable], [], [], TIME_LIMIT)
    data = b""
    if ready:
        while chunk := os.read(readable, 65536):
            data += chunk
    else:
        os.kill(child, signal.SIGKILL)
    os.close(readable)
    _, status = os.waitpid(child, 0)
    if not ready:
        return {"outcome": "hang", "length": 0, "message": f"no answer within {TIME_LIMIT} s"}
    if os.WIFSIGNALED(status):
        return {
            "outcome": "crash",
            "length": 0,
            "message": signal.Signals(os.WTERMSIG(status)).name,
        }
    if not data:
        return {
            "outcome": "crash",
            "length": 0,
            "message": f"exit status {os.waitstatus_to_exitcode(status)}",
        }
    return json.loads(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", default="0/1", help="walk every Nth function, from I")
    parser.add_argument("functions", nargs="*")
    args = parser.parse_args()
    part, parts = map(int, args.part.split("/"))
    wanted = [f for f in functions.load() if not args.functions or f.name in args.functions]
    models.om_bytes()  # here, so that the children share the files
    for kind in models.GEARS:
        models.om_file(kind)
    models.bundle_bytes()
    for function in wanted[part::parts]:
        for kind, name in kinds.cases(function):
            result = in_child(function, kind, name)
            result.update(function=function.name, kind=kind, argument=name)
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    sys.exit(main())
