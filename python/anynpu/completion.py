# SPDX-License-Identifier: Apache-2.0
"""`anynpu completion bash|zsh|fish`: prints a script that completes the options of all commands.

    eval "$(anynpu completion bash)"        in ~/.bashrc
    eval "$(anynpu completion zsh)"         in ~/.zshrc
    anynpu completion fish | source         in config.fish

The script is made from the tables that the commands themselves are made of.
"""
import argparse
import re
import subprocess

SHELLS = ("bash", "zsh", "fish")


def options_of(parser):
    """{subcommand: options} of an argparse parser; "" for the command itself."""
    found = {"": []}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                found[name] = options_of(sub)[""]
        else:
            found[""] += action.option_strings
    return found


def atc_options():
    """As `atc --help` lists them."""
    try:
        text = subprocess.run(["atc", "--help"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return sorted(set(re.findall(r"(?<![\w-])--\w+", text)))


def commands():
    """{command: {subcommand: words}}"""
    from . import cli, msaccucmp, stc_prof, stc_smi
    from .msprof import options as msprof
    found = {
        "anynpu": options_of(cli.parser()),
        "atc": {"": [f"{name}=" for name in atc_options()]},
        "msprof": {"": [f"--{name}=" for name in msprof.OPTIONS] + ["--help", "--version"]},
        "msaccucmp": options_of(msaccucmp.parser()),
        "npu-smi": {"": ["--help", "--version"], "info": ["-l", "-m", "-t", "-i", "-c", "-h"]},
        "stc-prof": options_of(stc_prof.parser()),
        "stc-smi": options_of(stc_smi.parser()),
        "stc-clang++": {"": ["--target=riscv32npu", "-O2", "-g", "-c", "-o", "--version"]},
        "stc-clang": {"": ["--target=riscv32npu", "-O2", "-g", "-c", "-o", "--version"]},
        "stc-ld.lld": {"": ["-flavor", "-r", "-o", "--version"]},
    }
    found["anynpu"]["completion"] = list(SHELLS)
    return found


def function_name(command):
    return "_anynpu_" + re.sub(r"\W", "_", command)


def bash():
    """A function for each command: its subcommands first, then options, else file names."""
    out = []
    for command, words in commands().items():
        name = function_name(command)
        cases = "".join(f"    {sub}) words='{' '.join(options)}' ;;\n"
                        for sub, options in words.items() if sub)
        first = " ".join([*(sub for sub in words if sub), *words[""]])
        out.append(f"""{name}() {{
  local words="{first}" word=${{COMP_WORDS[COMP_CWORD]}}
  if [ "$COMP_CWORD" -gt 1 ]; then case ${{COMP_WORDS[1]}} in
{cases}    *) words='{' '.join(words[''])}' ;;
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case ${{COMPREPLY[0]}} in *=) compopt -o nospace 2>/dev/null ;; esac
}}
complete -o bashdefault -o default -F {name} {command}
""")
    return "".join(out)


def zsh():
    return ("autoload -U +X compinit && compinit\n"
            "autoload -U +X bashcompinit && bashcompinit\n" + bash())


def fish():
    out = []
    for command, words in commands().items():
        for sub, options in words.items():
            if sub:
                out.append(f"complete -c {command} -n __fish_use_subcommand -a {sub}")
            here = f"'__fish_seen_subcommand_from {sub}'" if sub else "__fish_use_subcommand"
            for option in options:
                bare = option.lstrip("-")
                if option.startswith("--"):
                    takes = " -r" if bare.endswith("=") else ""
                    out.append(f"complete -c {command} -n {here} -l {bare.rstrip('=')}{takes}")
                elif option.startswith("-"):
                    out.append(f"complete -c {command} -n {here} -o {bare}")
                else:
                    out.append(f"complete -c {command} -n {here} -a {option}")
    return "\n".join(out) + "\n"


def main(args):
    print({"bash": bash, "zsh": zsh, "fish": fish}[args.shell](), end="")
    return 0
