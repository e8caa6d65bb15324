# SPDX-License-Identifier: Apache-2.0
"""`anynpu graph`: the graph of a model as text, as Graphviz dot, or as a picture (SVG, HTML)."""
import json
import os
import re
import subprocess
import sys
import tempfile

from . import ascend_tree, graph_picture
from .whole_file import write_whole

MOST_ITEMS = 16  # of a list attribute
FRAMEWORKS = {".onnx": 5, ".mindir": 1, ".air": 1}  # of source models, by suffix


class Tensor:
    def __init__(self, desc):
        self.name = desc.get("name", "")
        kind = desc.get("dtype", "")
        self.type = "float32" if kind == "DT_FLOAT" else kind.removeprefix("DT_").lower()
        shape = desc.get("shape")
        self.shape = "*" if shape is None else "x".join(
            "?" if n < 0 else str(n) for n in shape.get("dim", [])) or "scalar"

    def __str__(self):
        return f"%{self.name}: {self.type}[{self.shape}]"


class Op:
    """One operator: name, type, tensors, attributes, and where its inputs come from. In files of
    the vendor tensors are called by their edges: "conv1:0"."""

    def __init__(self, entry, by_edges=False):
        self.name, self.type = entry.get("name", ""), entry.get("type", "")
        self.sources = entry.get("input", [])
        self.inputs = [Tensor(desc) for desc in entry.get("input_desc", [])]
        self.outputs = [Tensor(desc) for desc in entry.get("output_desc", [])]
        if by_edges:
            self.sources = [source for source in self.sources if not source.endswith(":-1")]
            for source, tensor in zip(self.sources, self.inputs):
                tensor.name = source
            for source in self.sources[len(self.inputs):]:
                self.inputs.append(Tensor({"name": source}))
            for index, tensor in enumerate(self.outputs):
                tensor.name = f"{self.name}:{index}"
        attrs = {item["key"]: item["value"] for item in entry.get("attr", []) if item["value"]}
        self.domain = attrs.pop("_domain", {}).get("s", "")
        attrs.pop("_opset", None)
        attrs.pop("weight_bytes", None)
        self.attrs = {key: attribute(value) for key, value in attrs.items()}


def attribute(value):
    kind, content = next(iter(value.items()))
    if kind == "list":
        items = next((items for key, items in content.items() if key != "val_type"), [])
        shown = ", ".join(str(item) for item in items[:MOST_ITEMS])
        more = f", ... {len(items)} in all" if len(items) > MOST_ITEMS else ""
        return f"[{shown}{more}]"
    if kind == "g":
        return f"graph of {len(content.get('op', []))} operators"
    if kind == "t":
        return str(Tensor({"name": "tensor", **content.get("desc", {})})).split(": ")[1]
    return json.dumps(content)


def own_words(message):
    """What atc says, with what this command takes in place of atc's options."""
    message = message.replace("ATC: ", "anynpu graph: ", 1).rstrip()
    suffixes = ", ".join(sorted(FRAMEWORKS))
    for words, own in (
            ("give --framework when --om is a source model",
             f"give a .om of atc, or a source model with its suffix: {suffixes}"),
            (", see --framework", ""),
            ("files of other frameworks need another --framework",
             f"the suffix says what a file is: {suffixes}"),
            (", 5 takes an ONNX model", "")):
        message = message.replace(words, own)
    message = re.sub(r"use --framework=(\d)", other_way, message)
    return re.sub(r"(?<!atc )(--framework=\d prints)", r"atc \1", message)


def other_way(match):
    """For "use --framework=3", in the middle of a sentence."""
    suffix = {"1": ".mindir", "5": ".onnx"}.get(match[1])
    return (f"give it the suffix {suffix}" if suffix
            else f"convert it with atc --framework={match[1]} and give the .om")


def read_json(path):
    """The graph that atc writes for a model; on failure a message on standard error."""
    ways = [["--mode=5"]] if path.endswith(".txt") else [["--mode=1"]]
    framework = FRAMEWORKS.get(os.path.splitext(path)[1])
    if framework:  # with inferred shapes where the model states those of its inputs
        ways = [["--mode=1", f"--framework={framework}", f"--dump_mode={n}"] for n in (1, 0)]
    atc = os.path.join(ascend_tree.location(), "bin", "atc")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "graph.json")
        for way in ways:
            done = subprocess.run(
                [atc if os.path.exists(atc) else "atc", *way, f"--om={path}", f"--json={out}"],
                capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
        else:
            raise SystemExit(own_words(done.stderr))
        with open(out, encoding="utf-8") as file:
            return json.load(file)


def text_of(root):
    """One line per operator, as the compiler prints its graphs."""
    lines = []
    for key in ("name", "version", "made_by", "soc_version", "atc_cmdline"):
        if root.get(key):
            lines.append(f"# {key}: {root[key]}")
    for part in root.get("part", []):
        lines.append(f"# part {part['type']}: {part['holds']}, {part['size']} bytes")
    for graph in root.get("graph", []):
        lines.append(f"graph {graph.get('name', '')}")
        for op in ops_of(root, graph):
            if op.type in ("Data", "Const") and op.outputs:
                kind = "input " if op.type == "Data" else "const "
                lines.append(f"  {kind} {op.outputs[0]}")
            elif op.type == "NetOutput":
                lines += [f"  output {tensor}" for tensor in op.inputs]
            else:
                lines.append("  " + line_of(op))
    return "\n".join(lines) + "\n"


def ops_of(root, graph):
    return [Op(entry, by_edges="made_by" in root) for entry in graph.get("op", [])]


def line_of(op):
    made = ", ".join(str(tensor) if tensor.name else "-" for tensor in op.outputs)
    taken = ", ".join(f"%{tensor.name}" if tensor.name else "-" for tensor in op.inputs)
    kind = f"{op.domain}::{op.type}" if op.domain else op.type
    attrs = ", ".join(f"{key}={value}" for key, value in op.attrs.items())
    return f'{made} = {kind} "{op.name}" ({taken})' + (f" {{{attrs}}}" if attrs else "")


def edges_of(ops):
    """(from, to, tensor) between operators; weights are left out."""
    known = {op.name for op in ops}
    for op in ops:
        for source, tensor in zip(op.sources, op.inputs):
            name = source.rsplit(":", 1)[0]
            if name in known:
                yield name, op.name, tensor


def dot_of(ops):
    def quote(text):
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    lines = ["digraph model {", "  node [shape=box, fontname=sans];"]
    for op in ops:
        shape = ", shape=ellipse" if op.type in ("Data", "NetOutput") else ""
        lines.append(f"  {quote(op.name)} [label={quote(op.type + chr(10) + op.name)}{shape}];")
    for begin, end, tensor in edges_of(ops):
        label = quote(f"{tensor.type} {tensor.shape}")
        lines.append(f"  {quote(begin)} -> {quote(end)} [label={label}];")
    return "\n".join(lines) + "\n}\n"


class PageError(Exception):
    """The page cannot be made; the text says why."""


def bodies_of(root):
    """{name: (operators, edges)} of the graphs that If and Loop hold."""
    found = {}
    for graph in root.get("graph", []):
        for entry in graph.get("op", []):
            parts = [value["value"]["g"] for value in entry.get("attr", [])
                     if value["value"] and "g" in value["value"]]
            ops = [op for part in parts for op in ops_of(root, part) if op.type != "Const"]
            if ops:
                found[entry.get("name", "")] = (ops, list(edges_of(ops)))
    return found


def facts_of(path, profile):
    """Weights and kernels of a model, and the times of a profile where one is given."""
    from .graph_view import kernels, page, weights
    from .msprof.recording import RecordingError
    try:
        times, used = kernels.profile_times(profile) if profile else ({}, {})
    except RecordingError as error:
        raise PageError(str(error)) from error
    try:
        numbers = weights.statistics(path)
    except weights.Damaged as error:
        raise PageError(f"{path} is damaged: {error}; make it again with atc") from error
    return page.Facts(numbers, {**kernels.chosen_kernels(path), **used}, times)


def html_of(args, root, ops):
    from .graph_view import layout, page
    if not layout.have_dot():
        print(f"anynpu graph: {layout.MISSING}", file=sys.stderr)
    title = root.get("name") or os.path.basename(args.model)
    models = []
    if args.before:
        other = read_json(args.before)
        old = [op for graph in other.get("graph", []) for op in ops_of(other, graph)
               if op.type != "Const"]
        models.append(page.model_data(os.path.basename(args.before), old, list(edges_of(old)),
                                      bodies_of(other), facts_of(args.before, None)))
    try:
        models.append(page.model_data(
            os.path.basename(args.model) if args.before else title, ops, list(edges_of(ops)),
            bodies_of(root), facts_of(args.model, args.profile)))
    except layout.LayoutError as error:
        raise PageError(f"dot failed: {error}") from error
    return page.page_of(title, models, text_of(root))


def check_arguments(args):
    """What is wrong with the options; "" when nothing is."""
    if not args.html and (args.profile or args.before):
        return "--profile and --before are for the page; give --html as well"
    for path in filter(None, (args.model, args.before)):
        if not os.path.isfile(path):
            return (f"there is no file '{path}'; expected a .om, .onnx, .mindir or .air file, or a "
                    "ge_proto_*.txt")
    return ""


def main(args):
    if wrong := check_arguments(args):
        print(f"anynpu graph: {wrong}", file=sys.stderr)
        return 2
    root = read_json(args.model)
    ops = [op for graph in root.get("graph", []) for op in ops_of(root, graph)
           if op.type != "Const"]
    if args.json:
        text = json.dumps(root, indent=2) + "\n"
    elif args.dot:
        text = dot_of(ops)
    elif args.svg:
        text = graph_picture.svg(ops, list(edges_of(ops)))
    elif args.html:
        try:
            text = html_of(args, root, ops)
        except PageError as error:
            print(f"anynpu graph: {error}", file=sys.stderr)
            return 1
    else:
        text = text_of(root)
    if args.output:
        write_whole(args.output, text)
    else:
        sys.stdout.write(text)
    return 0
