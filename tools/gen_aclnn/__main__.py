# SPDX-License-Identifier: Apache-2.0
"""Headers, entry points, version script and the page of aclnn, from two sources:
src/api/acl_nn/api.tsv, every operator with its parameters, and the rows of src/aclnn/*.cpp, the
implemented ones.

    gen_aclnn headers FOLDER    public headers: every operator of the table
    gen_aclnn stubs FOLDER      those with a row: entry points, version script, table for the fuzzer
    gen_aclnn docs              docs/aclnn.md
    gen_aclnn missing           operators without a row, those that PyTorch's tests need first
"""
import fnmatch
import os
import re
import sys
from collections import namedtuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "src", "api", "acl_nn", "api.tsv")
NOTES = os.path.join(ROOT, "src", "api", "acl_nn", "notes.tsv")
ROWS = os.path.join(ROOT, "src", "aclnn")
STUB_FILES = 4

Operator = namedtuple("Operator", "name headers parameters family serves order")
Parameter = namedtuple("Parameter", "type name side")
ROW = re.compile(r'\{"(acl\w+)"')
# Outputs that some headers call const.
WRITTEN = re.compile(r"(?:Out|out|Ref|OutOptional)$|^(?:y|grad(?:Input|Weight|Bias|In|Target)|result|"
                     r"updated\w+|softmaxLse|logitsSelectIdx|logitsTopKPSelect)$")


def side_of(kind, name, in_place, first):
    """i: input, o: output, b: both. In-place operators write their first tensor."""
    if "aclTensor" not in kind:
        return "i"
    if in_place and not WRITTEN.search(name):
        return "b" if first else "i"
    if name.endswith("Ref"):
        return "b"
    if WRITTEN.search(name) or not kind.startswith("const"):
        return "o"
    return "i"


def parameters_of(operator, text):
    out = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        kind, name = re.fullmatch(r"(.*?[\s*])\s*(\w+)", item).groups()
        in_place = operator.startswith("aclnnInplace")
        side = side_of(kind.strip(), name, in_place, not out)
        out.append(Parameter(kind.strip(), name, side))
    return out


def operators():
    with open(TABLE, encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            name, headers, parameters, family, serves, order = line.split("\t")
            if "?" in parameters:  # a type that is not known
                continue
            yield Operator(name, headers.split(), parameters_of(name, parameters), family, serves,
                           order)


def implemented():
    """Names of the rows, with the file that has them."""
    found = {}
    for name in sorted(os.listdir(ROWS)):
        if name.endswith(".cpp"):
            with open(os.path.join(ROWS, name), encoding="utf-8") as file:
                for row in ROW.findall(file.read()):
                    if row in found:
                        sys.exit(f"{row} has a row in {found[row]} and in {name}")
                    found[row] = name
    return found


def write(path, text):
    """Only if it changed, so that nothing is recompiled needlessly."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def declared(op):
    items = [f"{p.type} {p.name}".replace("* ", "* ") for p in op.parameters]
    return ", ".join(items + ["uint64_t* workspaceSize", "aclOpExecutor** executor"])


# Functions that headers of operators declare beside them; libnnopbase.so has them.
BESIDE = {"aclnn_trans_matmul_weight.h": [
    "aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray* tensorShape, uint64_t* weightTensorSize);",
    "aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType,\n"
    "                                             uint64_t* weightTensorSize);"]}
RUN = "void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream"


def headers(folder):
    """The first header of an operator declares it; others include that one."""
    homes, others = {}, {}
    for op in operators():
        homes.setdefault(op.headers[0], []).append(op)
        for other in op.headers[1:]:
            others.setdefault(other, set()).add(op.headers[0])
    for name in sorted(set(homes) | set(others)):
        guard = "ACLNNOP_" + re.sub(r"\W", "_", name).upper() + "_"
        out = ["// SPDX-License-Identifier: Apache-2.0",
               "// Generated from src/api/acl_nn/api.tsv.",
               f"#ifndef {guard}", f"#define {guard}", "", '#include "aclnn/aclnn_base.h"']
        out += [f'#include "aclnnop/{home}"' for home in sorted(others.get(name, ()))]
        out.append("")
        if name in homes:
            out += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
            for op in homes[name]:
                out += [f"ACL_FUNC_VISIBILITY aclnnStatus {op.name}GetWorkspaceSize(",
                        f"    {declared(op)});",
                        f"ACL_FUNC_VISIBILITY aclnnStatus {op.name}({RUN});", ""]
            out += [f"ACL_FUNC_VISIBILITY {line}\n" for line in BESIDE.get(name, ())]
            out += ["#ifdef __cplusplus", "}", "#endif", ""]
        out += [f"#endif  // {guard}", ""]
        write(os.path.join(folder, name), "\n".join(out))


def stub(op):
    names = ", ".join(f'"{p.name}"' for p in op.parameters)
    sides = "".join(p.side for p in op.parameters)
    given = ", ".join(f"argument({p.name})" for p in op.parameters)
    return f'''
namespace {{
const char* const k{op.name}Parameters[] = {{{names}}};
const NnOperator& operator_{op.name}() {{
  static const NnOperator op = find_operator("{op.name}", k{op.name}Parameters, "{sides}");
  return op;
}}
}}  // namespace
extern "C" aclnnStatus {op.name}GetWorkspaceSize(
    {declared(op)}) {{
  const RawArgument arguments[] = {{{given}}};
  return prepare(__func__, operator_{op.name}(), arguments, workspaceSize, executor);
}}
extern "C" aclnnStatus {op.name}({RUN}) {{
  return execute(__func__, operator_{op.name}(), workspace, workspaceSize, executor, stream);
}}
'''


def stubs(folder):
    there = implemented()
    known = {op.name: op for op in operators()}
    missing = sorted(set(there) - set(known))
    if missing:
        sys.exit(f"rows without a line in src/api/acl_nn/api.tsv: {', '.join(missing)}")
    ops = [known[name] for name in sorted(there)]
    for part in range(STUB_FILES):
        out = ["// Generated by tools/gen_aclnn.", '#include "api/acl_nn/calls.h"', "",
               "using namespace anynpu::acl_nn;", "using anynpu::service::NnOperator;"]
        out += [stub(op) for op in ops[part::STUB_FILES]]
        write(os.path.join(folder, f"stubs_{part}.cpp"), "\n".join(out))
    names = "".join(f"    {op.name};\n    {op.name}GetWorkspaceSize;\n" for op in ops)
    write(os.path.join(folder, "calls.inc"), "".join(calls(ops)))
    write(os.path.join(folder, "opapi.map"), "{\n  global:\n" + names + "  local:\n    *;\n};\n")


# Letters for the kinds of parameters in the generated list of calls, by their C types.
KINDS = (("aclTensorList", "T"), ("aclTensor", "t"), ("aclScalarList", "S"), ("aclScalar", "s"),
         ("aclIntArray", "I"), ("aclFloatArray", "F"), ("aclBoolArray", "B"), ("char", "c"),
         ("double", "r"), ("float", "r"))


def kind_of(parameter):
    """The letter of the first type that is named; else an integer: n."""
    return next((letter for word, letter in KINDS if word in parameter.type), "n")


def calls(ops):
    """Every operator as data: name, kinds and sides of its parameters, their names."""
    for op in ops:
        kinds = "".join(kind_of(p) for p in op.parameters)
        sides = "".join(p.side for p in op.parameters)
        names = ", ".join(f'"{p.name}"' for p in op.parameters)
        yield f'{{"{op.name}", "{kinds}", "{sides}", {{{names}}}}},\n'


def notes(there, ops):
    """Operators to what is not a fact about them: the last line of notes.tsv that names them. Every operator
    without a row needs one that says why."""
    found = {}
    with open(NOTES, encoding="utf-8") as file:
        for line in file.read().splitlines()[1:]:
            patterns, text = line.split("\t")
            for pattern in patterns.split():
                names = fnmatch.filter([op.name for op in ops], pattern)
                if not names:
                    sys.exit(f"notes.tsv: no operator is called {pattern}")
                for name in names:
                    if text.startswith("absent: ") == (name in there):
                        if "*" in pattern:
                            continue
                        sys.exit(f"notes.tsv: {name} is {'there' if name in there else 'absent'}")
                    found[name] = text
    for op in ops:
        if op.name not in there and op.name not in found:
            sys.exit(f"notes.tsv: say why {op.name} is absent")
    return found


def docs():
    there = implemented()
    ops = list(operators())
    noted = notes(there, ops)
    count = sum(op.name in there for op in ops)
    used = [op for op in ops if op.order]
    out = ["# Operators of aclnn", "",
           "Generated by `tools/gen_aclnn docs`. Headers declare every operator; `libopapi.so` exports those",
           "that work, so a program that looks up another one at run time finds no symbol and can fall back.",
           "[How to add one](adding_an_aclnn_operator.md).", "",
           f"{count} of {len(ops)} work; of the {len(used)} that PyTorch's own operator tests need, "
           f"{sum(op.name in there for op in used)}. An operator does what the function of PyTorch that it serves",
           "does. The last column says what no document that we have states: what was built from memory of",
           "published models, and why an operator is absent.", "",
           "| operator | state | file of `src/aclnn` | serves | not a documented fact |", "|---|---|---|---|---|"]
    for op in ops:
        state = "works" if op.name in there else "-"
        out.append(f"| {op.name} | {state} | {there.get(op.name, '')} | {op.serves} | "
                   f"{noted.get(op.name, '').removeprefix('absent: ')} |")
    write(os.path.join(ROOT, "docs", "aclnn.md"), "\n".join(out) + "\n")


def missing():
    there = implemented()
    left = [op for op in operators() if op.name not in there]
    for op in sorted(left, key=lambda op: (int(op.order or 9999), op.name)):
        listed = ", ".join(f"{p.type} {p.name}" for p in op.parameters)
        print(f"{op.order or '-'}\t{op.name}({listed})")


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command == "headers":
        headers(sys.argv[2])
    elif command == "stubs":
        stubs(sys.argv[2])
    elif command == "docs":
        docs()
    elif command == "missing":
        missing()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
