# SPDX-License-Identifier: Apache-2.0
"""msaccucmp: dump files to .npy and .json, and the comparison of two dumps layer by layer."""
import argparse
import csv
import io
import json
import os
import sys

import numpy as np

try:
    from . import __version__, dump_file, terminal, whole_file
except ImportError:  # started as a script from the documented folder, through a link to the package
    _here = os.path.abspath(__file__)
    while os.path.islink(_here) and \
            not os.path.exists(os.path.join(os.path.dirname(_here), "_version.py")):
        _here = os.path.join(os.path.dirname(_here), os.readlink(_here))
    sys.path.insert(0, os.path.dirname(os.path.dirname(_here)))
    from anynpu import __version__, dump_file, terminal, whole_file

COLUMNS = ("Index", "OpType", "Layer", "Output", "CosineSimilarity", "MaxAbsoluteError",
           "MaxRelativeError", "KullbackLeiblerDivergence", "Note")
AXES = {0: "NCHW", 1: "NHWC", 16: "HWCN", 27: "NDHWC", 30: "NCDHW"}  # by number of format


def files_below(path):
    """Dump files of a path: itself, or all of a folder in order of name."""
    if os.path.isfile(path):
        return [path]
    if not os.path.isdir(path):
        raise dump_file.DumpError(f"'{path}' does not exist; expected a dump file or a folder")
    found = []
    for folder, folders, names in os.walk(path):
        folders.sort()
        found += [os.path.join(folder, n) for n in sorted(names)
                  if not n.endswith((".npy", ".json", ".csv")) and whole_file.MARK not in n]
    return found


def listed(text):
    """What -d names: a file, a folder, or files with commas between."""
    if os.path.exists(text):
        return files_below(text)
    return [f for part in text.split(",") for f in files_below(part)]


def in_format(tensor, form):
    """The array with its axes in the order of `form`, for tensors whose axes have names."""
    array, axes = tensor.array(), AXES.get(tensor.format, "")
    if form in ("", "ND", axes) or len(axes) != array.ndim:
        return array
    if sorted(form) != sorted(axes):
        raise dump_file.DumpError(f"a tensor in {axes} cannot be put in order {form}; expected its "
                                  "axes in another order, such as NHWC")
    return array.transpose([axes.index(axis) for axis in form])


def convert_one(path, out, kind="npy", wanted=None, form=None, shape=None):
    """Files of one dump; with a format or a shape their names have the extents."""
    name = os.path.basename(path)
    if dump_file.is_overflow_record(path):
        target = os.path.join(out, name + ".json")
        whole_file.write_whole(target, json.dumps(dump_file.read_overflow(path), indent=1))
        return [target]
    dump, made = dump_file.read(path), []
    for side, tensors in (("input", dump.inputs), ("output", dump.outputs)):
        for i, tensor in enumerate(tensors):
            if wanted is not None and (side, i) not in wanted:
                continue
            array = in_format(tensor, form or "")
            if shape is not None:
                array = array.reshape(shape)
            changed = form is not None or shape is not None
            extents = "." + "x".join(map(str, array.shape)) if changed else ""
            target = os.path.join(out, f"{name}.{side}.{i}{extents}.{kind}")
            with (whole_file.whole(target) as partial, open(partial, "wb") as file):
                if kind == "npy":
                    np.save(file, array)
                else:
                    array.tofile(file)
            made.append(target)
    return made


def convert(args):
    os.makedirs(args.output_path, exist_ok=True)
    wanted = None
    if args.input is not None or args.output is not None:
        wanted = {(side, i) for side, i in (("input", args.input), ("output", args.output))
                  if i is not None}
    if args.custom_script_path:
        print(f"[WARNING] -c {args.custom_script_path}: scripts of one's own are not run; tensors "
              "are converted as they are", file=sys.stderr)
    paths, failed = listed(args.dump_path), 0
    for path in terminal.steps(paths, "msaccucmp", "files"):
        try:
            for target in convert_one(path, args.output_path, args.type, wanted, args.format,
                                      args.shape):
                print(f"[INFO] {target}")
        except (dump_file.DumpError, OSError, ValueError) as error:
            text = str(error)
            print(f"[ERROR] {text if path in text else f'{path}: {text}'}", file=sys.stderr)
            failed += 1
    if not paths:
        print(f"[ERROR] there is no dump file in '{args.dump_path}'", file=sys.stderr)
    return 1 if failed or not paths else 0


def layers_of(path):
    """{layer name: dump} in the order of execution, the last dump of each; files that are no
    operator's are left out."""
    found = {}
    for name in sorted(files_below(path), key=written_at):
        if dump_file.is_overflow_record(name):
            continue
        dump = dump_file.read(name)
        found.pop(dump.op_name, None)
        found[dump.op_name] = dump
    return found


def written_at(path):
    """The time at the end of the name of a dump file."""
    word = os.path.basename(path).rpartition(".")[2]
    return (int(word) if word.isdigit() else 0, path)


def distribution(x):
    total = x.sum()
    return x / total if total > 0 else np.full_like(x, 1 / max(len(x), 1))


def measures(mine, theirs):
    """Cosine similarity, largest absolute and relative error, KL divergence."""
    a, b = mine.astype(np.float64).ravel(), theirs.astype(np.float64).ravel()
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    cosine = float(a @ b / norms) if norms > 0 else float(np.array_equal(a, b))
    away = np.abs(a - b)
    absolute = float(away.max(initial=0))
    relative = float((away / np.maximum(np.abs(b), np.finfo(np.float32).tiny)).max(initial=0))
    p, q = distribution(np.abs(a) + 1e-12), distribution(np.abs(b) + 1e-12)
    return cosine, absolute, relative, float((p * np.log(p / q)).sum())


def compare_layers(mine, theirs):
    """Rows of the table, in the order of the first dump."""
    rows = []
    for layer, dump in terminal.steps(mine.items(), "msaccucmp", "layers"):
        other = theirs.get(layer)
        if other is None:
            rows.append([len(rows), dump.op_type, layer, "-", *["NaN"] * 4, "only in the first"])
            continue
        for i, (a, b) in enumerate(zip(dump.outputs, other.outputs)):
            one, two = a.array(), b.array()
            if one.size != two.size:
                note = f"{list(one.shape)} against {list(two.shape)}"
                rows.append([len(rows), dump.op_type, layer, i, *["NaN"] * 4, note])
                continue
            numbers = [f"{m:.6g}" for m in measures(one, two)]
            rows.append([len(rows), dump.op_type, layer, i, *numbers, ""])
    for layer, dump in theirs.items():
        if layer not in mine:
            rows.append([len(rows), dump.op_type, layer, "-", *["NaN"] * 4, "only in the second"])
    return rows


def compare(args):
    rows = compare_layers(layers_of(args.my_dump), layers_of(args.golden_dump))
    widths = [max(len(str(r[i])) for r in [COLUMNS, *rows]) for i in range(len(COLUMNS))]
    for row in [COLUMNS, *rows]:
        print("  ".join(str(cell).ljust(w) for cell, w in zip(row, widths)).rstrip())
    os.makedirs(args.output_path, exist_ok=True)
    target = os.path.join(args.output_path, "result.csv")
    text = io.StringIO()
    csv.writer(text).writerows([COLUMNS, *rows])
    whole_file.write_whole(target, text.getvalue())
    print(f"[INFO] {target}")
    return 0 if rows else 1


def extents_of(text):
    try:
        return [int(part) for part in text.strip("()[]").split(",") if part.strip()]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of extents such as 1,3,224,224") \
            from None


def parser():
    top = argparse.ArgumentParser(prog="msaccucmp", description=__doc__)
    top.add_argument("--version", action="version", version=f"%(prog)s of AnyNPU {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    sub = commands.add_parser("convert", help="dump files to .npy, overflow records to .json")
    sub.add_argument("-d", dest="dump_path", required=True,
                     help="a dump file, a folder, or files with commas between")
    sub.add_argument("-out", "--output", dest="output_path", default=".")
    sub.add_argument("-v", dest="version", default="2", choices=("1", "2"))
    sub.add_argument("-f", dest="format", type=str.upper, help="order of the axes, such as NHWC")
    sub.add_argument("-s", dest="shape", type=extents_of, help="extents, such as 1,3,224,224")
    sub.add_argument("-o", dest="output", type=int, help="only the output of this index")
    sub.add_argument("-i", dest="input", type=int, help="only the input of this index")
    sub.add_argument("-c", dest="custom_script_path", help="accepted with a warning, not used")
    sub.add_argument("-t", dest="type", default="npy", choices=("npy", "bin"))
    sub.set_defaults(function=convert)
    sub = commands.add_parser("compare", help="two dumps, layer by layer")
    sub.add_argument("-m", dest="my_dump", required=True, help="folder of the first dump")
    sub.add_argument("-g", dest="golden_dump", required=True, help="folder of the second dump")
    sub.add_argument("-out", dest="output_path", default=".", help="folder of result.csv")
    sub.set_defaults(function=compare)
    return top


def main(argv=None):
    args = parser().parse_args(argv)
    try:
        return args.function(args)
    except (dump_file.DumpError, OSError) as error:
        print(f"[ERROR] {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
