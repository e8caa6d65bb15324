# SPDX-License-Identifier: Apache-2.0
"""Marks tests with the code block of the guide they run, and runs blocks.

A block is kept as the page prints it, without its comments; `slips` names each correction it
needed. tools/gen_guide_blocks.py reads the marks (and the list in unrun.py) for
docs/guide_blocks.md.
"""
import ast
import os
import subprocess
import sys
import textwrap


def block(section, first_line, slips=(), note=""):
    """Says which block of the guide a test runs. Read from the source, so write literals only."""
    return lambda test: test


class _CheckRet(ast.NodeTransformer):
    """Puts behind every assignment to `ret` the check that the guide leaves to the reader."""

    def visit_Assign(self, node):
        names = [n.id for target in node.targets for n in ast.walk(target)
                 if isinstance(n, ast.Name)]
        if "ret" not in names:
            return node
        check = ast.parse(f"_check_ret(ret, {node.lineno})").body[0]
        return [node, ast.copy_location(check, node)]


def run_block(text, **names):
    """Runs a block with the given names defined; every `ret` has to be 0. Returns all names."""
    text = textwrap.dedent(text)
    lines = text.splitlines()

    def check_ret(ret, line):
        if ret != 0:
            import acl
            raise AssertionError(f"{lines[line - 1].strip()}: ret = {ret}\n"
                                 + acl.get_recent_err_msg())

    tree = ast.fix_missing_locations(_CheckRet().visit(ast.parse(text)))
    names["_check_ret"] = check_ret
    exec(compile(tree, "<guide>", "exec"), names)  # noqa: S102
    return names


def checked_program(text):
    """The text of a program whose every `ret` is checked, for blocks that run as a script."""
    tree = ast.fix_missing_locations(_CheckRet().visit(ast.parse(textwrap.dedent(text))))
    return ("def _check_ret(ret, line):\n    assert ret == 0, (ret, line)\n\n\n"
            + ast.unparse(tree) + "\n")


def run_program(path, text, cwd=None, **env):
    """Writes a program and runs it as `python3 <file>` in its folder; what it printed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(checked_program(text))
    done = subprocess.run([sys.executable, path.name if cwd is None else str(path)],
                          capture_output=True, text=True, timeout=300, cwd=cwd or path.parent,
                          env={**os.environ, **env})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shell(text, cwd=None, **env):
    """Runs shell lines with bash, stopping at the first failure; what they printed."""
    done = subprocess.run(["bash", "-ec", textwrap.dedent(text)], capture_output=True, text=True,
                          timeout=300, cwd=cwd, env={**os.environ, **env})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_bytes(acl, address, data):
    """Puts `data` at an address of host or device: what the guide calls `read_file`."""
    assert acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), 4) == 0


def read_bytes(acl, address, size):
    data = bytes(size)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), size, address, size, 4) == 0
    return data
