# SPDX-License-Identifier: Apache-2.0
"""Guide 4.3: initialisation and finalisation. Each program runs in a process of its own, because
initialisation is once per process."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

SUCCESS = 0
INVALID_PARAM = 100000
UNINITIALIZE = 100001
REPEAT_INITIALIZE = 100002
INVALID_FILE = 100003
PARSE_FILE = 100006
INVALID_DUMP_CONFIG = 100009
REPEAT_FINALIZE = 100037
INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048


def run_script(path, text, cwd=None, **env):
    """Runs `text` as the script `path`; what it prints, one word per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    import acl

    home = os.path.dirname(os.path.dirname(os.path.abspath(acl.__file__)))
    done = subprocess.run(
        [sys.executable, os.path.relpath(path, cwd or path.parent)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=cwd or path.parent,
        env={**os.environ, "PYTHONPATH": home, **env},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()


def init_code(tmp_path, config):
    """What acl.init returns for a file with this text."""
    text = config if isinstance(config, str) else json.dumps(config)
    (tmp_path / "acl.json").write_text(text)
    return int(run_script(tmp_path / "main.py", 'import acl\nprint(acl.init("acl.json"))')[0])


@pytest.mark.parametrize("arguments", ["", "None", '""', '"acl.json"'])
def test_defaults_need_no_file_an_empty_name_or_an_empty_object(tmp_path, arguments):
    (tmp_path / "acl.json").write_text("{}")
    assert run_script(
        tmp_path / "main.py",
        f"""
        import acl
        print(acl.init({arguments}), acl.finalize())
        """,
    ) == ["0", "0"]


def test_the_life_of_the_library(tmp_path):
    codes = run_script(
        tmp_path / "main.py",
        """
        import acl
        print(acl.finalize())
        print(acl.init(), acl.init())
        print(acl.finalize(), acl.finalize())
        print(acl.init(), *acl.finalize_reference())
        print(acl.finalize_reference()[-1])
        """,
    )
    assert [int(code) for code in codes] == [
        UNINITIALIZE,
        SUCCESS,
        REPEAT_INITIALIZE,
        SUCCESS,
        REPEAT_FINALIZE,
        SUCCESS,
        0,
        SUCCESS,
        REPEAT_FINALIZE,
    ]


def test_a_missing_file_is_named_with_the_places_that_were_searched(tmp_path):
    out = run_script(
        tmp_path / "app" / "main.py",
        """
        import acl
        print(acl.init("no_such.json"))
        print(acl.get_recent_err_msg().replace(" ", "_"))
        """,
        cwd=tmp_path,
    )
    assert int(out[0]) == INVALID_FILE
    assert "aclInit_failed" in out[1] and "no_such.json" in out[1]
    assert str(tmp_path / "app") in out[1], "the script's folder is searched"


def test_a_relative_path_starts_at_the_script_then_at_the_current_folder(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "acl.json").write_text("{}")
    program = 'import acl\nprint(acl.init("../src/acl.json"))'
    # As the guide prints it: ".." is relative to the program, wherever it is started from.
    assert run_script(tmp_path / "out" / "main.py", program, cwd="/") == ["0"]
    (tmp_path / "elsewhere").mkdir()
    assert run_script(tmp_path / "a" / "b" / "main.py", program, cwd=tmp_path / "elsewhere") == [
        "0"
    ]


def test_a_change_of_folder_after_the_import_does_not_matter(tmp_path):
    (tmp_path / "acl.json").write_text("{}")
    assert run_script(
        tmp_path / "main.py",
        """
        import os
        import acl
        os.chdir("/")
        print(acl.init("acl.json"))
        """,
    ) == ["0"]


@pytest.mark.parametrize(
    "config, code",
    [
        ("{", PARSE_FILE),
        ("[]", PARSE_FILE),
        ("", PARSE_FILE),
        ('{"a":' * 11 + "1" + "}" * 11, PARSE_FILE),
        ({"dump": {"dump_path": "o", "dump_mode": "sometimes"}}, INVALID_DUMP_CONFIG),
        ({"dump": {"dump_list": [{"model_name": "m"}]}}, INVALID_DUMP_CONFIG),
        ({"profiler": {"switch": "on", "output": "a;b"}}, INVALID_PARAM),
        ({"profiler": {"switch": "on", "no_such_key": "on"}}, INVALID_PARAM),
        ({"profiler": {"switch": "on", "aicpu": 1}}, INVALID_PARAM),
        ({"profiler": {"switch": "on", "sys_cpu_freq": 51}}, INVALID_PARAM),
        ({"max_opqueue_num": "0"}, INVALID_MAX_OPQUEUE_NUM_CONFIG),
        ({"max_opqueue_num": "10000", "err_msg_mode": "1"}, SUCCESS),
        ({"dump": {"dump_path": ".", "dump_list": [{"model_name": "m", "layer": ["x"]}]}}, SUCCESS),
        ({"profiler": {"switch": "off"}}, SUCCESS),
        ({"profiler": {"switch": "on", "output": "o", "aic_metrics": "PipeUtilization"}}, SUCCESS),
        ({"defaultDevice": {"default_device": "1"}}, SUCCESS),
        ({"StackSize": {"aicore_stack_size": 65536}}, SUCCESS),
    ],
)
def test_the_file_is_checked(tmp_path, config, code):
    assert init_code(tmp_path, config) == code


def test_models_need_init_first(tmp_path):
    codes = run_script(
        tmp_path / "main.py",
        """
        import acl
        print(acl.mdl.unload(0) and acl.mdl.execute(0, 0, 0))
        print("before_aclInit" in acl.get_recent_err_msg().replace(" ", "_"))
        print(len(acl.get_soc_name()) > 0, acl.get_version()[-1])
        acl.init()
        acl.finalize()
        print(acl.update_data_buffer(0, 0, 0))
        """,
    )
    assert codes == [str(UNINITIALIZE), "True", "True", "0", str(UNINITIALIZE)]


def test_process_wide_messages(tmp_path):
    (tmp_path / "acl.json").write_text('{"err_msg_mode": "1"}')
    program = """
        import threading
        import acl
        acl.init(%s)
        thread = threading.Thread(target=lambda: acl.destroy_data_buffer(0))
        thread.start()
        thread.join()
        print(len(acl.get_recent_err_msg()) > 0)
        """
    assert run_script(tmp_path / "main.py", program % '"acl.json"') == ["True"]
    assert run_script(tmp_path / "main.py", program % "") == ["False"]


def test_a_child_of_a_process_that_only_imported_works(tmp_path):
    assert run_script(
        tmp_path / "main.py",
        """
        import os
        import acl
        child = os.fork()
        if child == 0:
            os._exit(0 if acl.init() == 0 and acl.finalize() == 0 else 1)
        print(os.waitpid(child, 0)[1])
        """,
    ) == ["0"]


def test_a_child_of_a_process_that_used_the_library_gets_an_error(tmp_path):
    assert run_script(
        tmp_path / "main.py",
        """
        import os
        import acl
        acl.init()
        child = os.fork()
        if child == 0:
            code = acl.finalize()
            os._exit(0 if code == 100001 and "forked" in acl.get_recent_err_msg() else 1)
        print(os.waitpid(child, 0)[1], acl.finalize())
        """,
    ) == ["0", "0"]


def test_init_takes_at_most_one_text():
    import acl

    with pytest.raises(TypeError):
        acl.init(1)
    with pytest.raises(TypeError):
        acl.init("a", "b")
