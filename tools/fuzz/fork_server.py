"""Runs commands of symroof, each in a fork of a process that has everything imported, under limits on processor time and memory.

Started as a program; one JSON object a line in, one out. It imports nothing of this folder, so that it can be started by its path.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import json
import os
import pkgutil
import resource
import signal
import sys
import time

FOREVER = "--forever"
LARGEST_FILE = 256 << 20


def main() -> None:
    """Import everything once, then serve."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _import_all()
    gc.collect()
    gc.freeze()
    print(json.dumps({"ready": True}), file=channel, flush=True)
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), file=channel, flush=True)


def _import_all() -> None:
    import symroof

    for name in ("sympy", "jinja2", "yaml", "pydantic", "numpy"):
        importlib.import_module(name)
    for module in pkgutil.walk_packages(symroof.__path__, "symroof."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError:  # an extra that is not installed
                continue
    import click.utils

    click.utils.should_strip_ansi = lambda *_: False  # as on a terminal, where nothing is stripped
    with open(os.devnull, "w") as nowhere:
        sys.stdout, kept = nowhere, sys.stdout
        from symroof.cli.main import main as command

        command(
            [
                "eval",
                "--model",
                "llama-3-8b",
                "--hardware",
                "h100-sxm",
                "--prompt",
                "128",
                "--output",
                "8",
            ]
        )  # fills what is made once a process
        sys.stdout = kept


def _run(request: dict) -> dict:
    started = time.monotonic()
    pid = os.fork()
    if not pid:
        try:
            _child(request)
        except BaseException:  # an error that left the command line's own reader of errors
            import traceback

            with contextlib.suppress(OSError), open(request["escaped"], "w") as file:
                file.write(traceback.format_exc())
            os._exit(111)
        os._exit(112)
    while True:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            break
        if os.path.exists(request["trace"]) and os.path.getsize(
            request["trace"]
        ):  # the sign of SIGXCPU
            time.sleep(0.05)
            os.killpg(pid, signal.SIGKILL)
            done, status, used = os.wait4(pid, 0)
            status = signal.SIGXCPU
            break
        if request["wall"] and time.monotonic() - started > request["wall"]:
            os.killpg(pid, signal.SIGKILL)
            done, status, used = os.wait4(pid, 0)
            status = signal.SIGALRM  # the sign of a hang
            break
        time.sleep(0.001 if time.monotonic() - started < 0.2 else 0.02)
    code = os.waitstatus_to_exitcode(status)
    return {"code": code, "cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024}


def _child(request: dict) -> None:
    os.setsid()
    os.chdir(request["folder"])
    for number, name in ((0, os.devnull), (1, request["stdout"]), (2, request["stderr"])):
        handle = os.open(name, os.O_RDONLY if not number else os.O_WRONLY | os.O_CREAT)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    trace = open(request["trace"], "w")  # noqa: SIM115
    faulthandler.register(signal.SIGXCPU, trace, all_threads=False)
    _limit(resource.RLIMIT_CPU, int(request["cpu"]))
    _limit(resource.RLIMIT_FSIZE, LARGEST_FILE)
    if size := _address_space():
        _limit(resource.RLIMIT_AS, size + request["memory"])
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if name in request["closed"]:
            os.close(number)
            setattr(sys, name, None)
    while request["arguments"] == [FOREVER]:  # a runaway, to test the limit on
        pass
    from symroof.cli import run

    sys.argv = ["symroof", "--debug", *request["arguments"]]
    run()


def _limit(what: int, most: int) -> None:
    """The soft limit only: what the command starts may set its own."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _address_space() -> int:
    """Bytes of address space now, where the system says so."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


if __name__ == "__main__":
    main()
