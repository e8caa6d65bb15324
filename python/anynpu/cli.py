# SPDX-License-Identifier: Apache-2.0
"""The command `anynpu`: run or check a program, print the environment, examine the machine."""
import argparse
import os
import sys

from . import __version__, ascend_tree


def environment(base):
    """A copy of `base` in which `import acl`, -lascendcl and the tools are found."""
    env = dict(base)
    for name, value, prepend in ascend_tree.variables(ascend_tree.make(ascend_tree.location())):
        old = env.get(name) if prepend else None
        env[name] = value + os.pathsep + old if old else value
    return env


def run(args):
    """Becomes the program: its arguments, exit code and signals are its own."""
    program, arguments = args.program, args.arguments
    env = environment(os.environ)
    sys.stdout.flush()
    if program.endswith(".py") or (os.path.isdir(program)
                                   and os.path.isfile(os.path.join(program, "__main__.py"))):
        if not os.path.exists(program):
            print(f"anynpu run: there is no file '{program}' in {os.getcwd()}; "
                  "expected the path of a Python program", file=sys.stderr)
            return 2
        os.execve(sys.executable, [sys.executable, program, *arguments], env)
    try:
        os.execvpe(program, [program, *arguments], env)
    except OSError as error:
        print(f"anynpu run: cannot start '{program}': {error.strerror}; expected a Python file "
              "(.py) or an executable program", file=sys.stderr)
    return 2


def print_env(args):
    tree = ascend_tree.make(ascend_tree.location())
    if args.path:
        print(os.path.join(tree, "set_env.sh"))
    else:
        print("\n".join(ascend_tree.export_lines(tree)))
    return 0


def doctor(args):
    from . import doctor as examination  # reads half of /proc: only when asked
    return examination.main()


def graph(args):
    from . import graph as drawing
    return drawing.main(args)


def bundle(args):
    from . import bundle as bundles
    return bundles.main(args)


def completion(args):
    from . import completion as scripts
    return scripts.main(args)


def check(args):
    from .check import command
    return command.main(args, environment(os.environ))


def parser():
    top = argparse.ArgumentParser(
        prog="anynpu", description="Runs programs written for NPUs unchanged on this machine.")
    top.add_argument("--version", action="version", version=f"anynpu {__version__}")
    commands = top.add_subparsers(dest="command", metavar="command", required=True)

    sub = commands.add_parser("run", help="run a program on AnyNPU")
    sub.add_argument("program", help="a Python file, or any program that uses the libraries")
    sub.add_argument("arguments", nargs=argparse.REMAINDER, help="given to the program as they are")
    sub.set_defaults(function=run)

    from .check import command as checker
    sub = commands.add_parser("check", help="run a program and report what it did wrong")
    checker.add_arguments(sub)
    sub.set_defaults(function=check)

    sub = commands.add_parser("env", help='print export lines: eval "$(anynpu env)"')
    sub.add_argument("--path", action="store_true", help="print the path of set_env.sh instead")
    sub.set_defaults(function=print_env)

    from .report import command as report
    report.add_arguments(commands.add_parser("report", help="make a page about a profile"))

    sub = commands.add_parser("doctor", help="tell what was found, what is used, and why not more")
    sub.set_defaults(function=doctor)
    sub = commands.add_parser("graph", help="print or draw the graph of a model")
    sub.add_argument("model", help="a .om, .onnx, .mindir or .air file, or a "
                     "ge_proto_*.txt")
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--dot", action="store_true", help="for Graphviz")
    form.add_argument("--svg", action="store_true", help="a picture")
    form.add_argument("--html", action="store_true",
                      help="a page: zoom, search, attributes, weights, kernels, groups")
    form.add_argument("--json", action="store_true", help="as atc --mode=1 writes it")
    sub.add_argument("--profile", metavar="PROF",
                     help="with --html: colour by the times of a PROF_* directory")
    sub.add_argument("--before", metavar="MODEL",
                     help="with --html: this model beside the other, and what changed")
    sub.add_argument("-o", "--output", help="the file to write; otherwise standard output")
    sub.set_defaults(function=graph)

    sub = commands.add_parser("bundle", help="put several models into one file, or list them")
    sub.add_argument("files", nargs="+", metavar="file",
                     help="the .om files in order of their index; with --list one bundle")
    work = sub.add_mutually_exclusive_group(required=True)
    work.add_argument("-o", "--output", help="the bundle to write, for "
                      "acl.mdl.bundle_load_from_file")
    work.add_argument("--list", action="store_true", help="print the models of a bundle")
    sub.set_defaults(function=bundle)

    from . import compare_speed
    compare_speed.add_arguments(commands, environment)

    sub = commands.add_parser("completion", help='completion of all commands: '
                              'eval "$(anynpu completion bash)"')
    sub.add_argument("shell", choices=("bash", "zsh", "fish"))
    sub.set_defaults(function=completion)
    return top


def main(argv=None):
    args = parser().parse_args(argv)
    return args.function(args)


if __name__ == "__main__":
    sys.exit(main())
