# SPDX-License-Identifier: Apache-2.0
"""What is known of each error code: from the public headers (name and number), src/base/status.h (what
a cause means), src/api/*/errors.cpp (which cause becomes which number, and the advice), the table of
mistakes in tests/data/misuse_codes.tsv, and causes.tsv beside this file (usual causes)."""
import csv
import functools
import os
import re
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ACL = "AscendCL and pyACL"


@dataclass
class Error:
    number: int
    name: str
    interface: str
    meanings: list = field(default_factory=list)
    advice: list = field(default_factory=list)
    functions: list = field(default_factory=list)  # names or patterns of C functions
    mistakes: list = field(default_factory=list)  # (functions, meaning) of misuse_codes.tsv
    causes: list = field(default_factory=list)
    fix: str = ""

    @property
    def is_returned(self):
        return bool(self.meanings)


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def rows(*path):
    with open(os.path.join(ROOT, *path), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def add(items, item):
    if item and item not in items:
        items.append(item)


@functools.lru_cache(maxsize=None)
def meanings():
    """{cause: what it means}"""
    return dict(re.findall(r'X\((\w+),\s*"([^"]+)"\)', read("src", "base", "status.h")))


def joined(text):
    """Adjacent string literals are one."""
    return re.sub(r'"\s*"', "", text)


def acl_errors():
    found = {}
    for header in ("acl_error_codes.h", "rt_error_codes.h", "ge_error_codes.h"):
        for name, number in re.findall(r"#define (ACL_ERROR_\w+) (\d+)",
                                       read("include", "acl", "error_codes", header)):
            if int(number):
                found[name] = Error(int(number), name, ACL)
    text = joined(read("src", "api", "acl", "errors.cpp"))
    for code, *numbers, advice in re.findall(
            r'\bROW\((\w+), (\w+), (\w+),\s*(\w+),\s*"([^"]*)"\)', re.sub(r"\s+", " ", text)):
        for name in numbers:
            if name in found:
                add(found[name].meanings, meanings()[code])
                add(found[name].advice, advice)
    for code, name, advice in re.findall(r'\bSAME\((\w+), (\w+), "([^"]*)"\)', re.sub(r"\s+", " ", text)):
        add(found[name].meanings, meanings()[code])
        add(found[name].advice, advice)
    for function, code, name in re.findall(r'SPECIAL\("([^"]+)", (\w+), (\w+)\)', text):
        add(found[name].meanings, meanings()[code])
        add(found[name].functions, function)
    for row in rows("tests", "data", "misuse_codes.tsv"):
        if row["name"] in found:
            add(found[row["name"]].mistakes, (row["functions"], row["meaning"]))
            add(found[row["name"]].meanings, row["meaning"])
    return found


def stc_errors():
    numbers = dict(re.findall(r"(stcError\w+) = (\d+)", read("include", "hpe.h")))
    text = joined(read("src", "api", "hpe", "errors.cpp"))
    mapped, causes = {}, []
    for line in text[text.index("general_error"):].splitlines():
        case, result = re.search(r"case Code::(\w+):", line), re.search(r"return (stc\w+);", line)
        if case:
            causes.append(case[1])
        if result:
            mapped.setdefault(result[1], []).extend(causes)
            causes = []
    found = {}
    for name, message in re.findall(r'NAMED\((stcError\w+),\s*"([^"]+)"\)', text):
        error = Error(int(numbers[name]), name, "HPE")
        add(error.meanings, message)
        for code in mapped.get(name, []):
            add(error.causes, meanings()[code])
        found[name] = error
    return found


def hccl_errors():
    numbers = dict(re.findall(r"(HCCL_E_\w+) = (\d+)", read("include", "hccl", "hccl_types.h")))
    text = read("src", "api", "acl_hccl", "errors.cpp")
    found = {name: Error(int(number), name, "HCCL") for name, number in numbers.items()}
    for code, name in re.findall(r"\{Code::(\w+), (HCCL_E_\w+)\}", text):
        add(found[name].meanings, meanings()[code])
    if "HCCL_E_INTERNAL" in found:
        add(found["HCCL_E_INTERNAL"].meanings, "any other cause; the message says which")
    return found


def aclnn_errors():
    header = read("include", "aclnn", "acl_meta.h")
    found = {}
    text = read("src", "api", "acl_nn", "errors.cpp")
    for name, advice in re.findall(r'\{(ACLNN_ERR_\w+), "\w+",\s*"([^"]+)"\}', joined(text)):
        number = re.search(rf"{name}\s*=?\s*(\d+)", header)
        if number:
            error = Error(int(number[1]), name, "aclnn")
            add(error.advice, advice)
            found[name] = error
    for cause in ("no_context", "not_initialized", "invalid_stream", "out_of_memory", "task_failed"):
        if "ACLNN_ERR_RUNTIME_ERROR" in found:
            add(found["ACLNN_ERR_RUNTIME_ERROR"].meanings, meanings()[cause])
    for name, text in (("ACLNN_ERR_PARAM_NULLPTR", meanings()["invalid_handle"]),
                       ("ACLNN_ERR_INNER", meanings()["internal"]),
                       ("ACLNN_ERR_PARAM_INVALID", "a type, shape, format or value that the operator "
                        "does not take; the message names the argument")):
        if name in found:
            add(found[name].meanings, text)
    return found


@functools.lru_cache(maxsize=None)
def errors():
    """All codes, by interface and number."""
    found = list(acl_errors().values())
    for table in (aclnn_errors, stc_errors, hccl_errors):
        found += table().values()
    by_name = {error.name: error for error in found}
    by_name.update({str(error.number): error for error in acl_errors_first(found)})
    for row in rows("tools", "site", "causes.tsv"):
        error = by_name.get(row["code"])
        if error is None or not error.is_returned:
            raise SystemExit(f"causes.tsv: AnyNPU does not return the code {row['code']}")
        error.causes = [cause.strip() for cause in row["usual causes"].split(";")]
        error.fix = row["what to do"]
    return sorted(found, key=lambda e: (e.interface != ACL, e.interface, e.number))


def acl_errors_first(found):
    return [error for error in found if error.interface == ACL]
