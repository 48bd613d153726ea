"""The command line: read arguments, call a room, print."""


def run() -> None:
    """The entry point: exit codes and errors in one place; everything else is imported inside it, where Ctrl-C is heeded.

    0 done, 1 a finding, 2 bad usage or bad input, 101 a bug in symroof, 130 interrupted.
    """
    import os
    import signal

    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # symroof/__init__ had one of its own
        code = _run()
    except KeyboardInterrupt:
        code = 130  # main.INTERRUPTED, which may not be imported yet
    os._exit(code)  # everything is written and closed; taking the object graph apart would only cost time


def _run() -> int:
    import gc
    import os
    import sys

    gc.disable()  # a short process: collecting costs more than it frees
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins reads the record of every package installed
    _open_streams()
    try:
        from symroof.cli.main import main

        code = main(sys.argv[1:])
    except BrokenPipeError:  # the reader is gone before the error is written
        return 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    except OSError:  # a full disk; the command has reported it when its own output failed
        code = code or 2
    return code


# CPython keeps frames in pieces of 16 kB and gives a piece back when the last frame in it returns: evaluation that recurses to and fro over its end
# asks the system for memory at every call, a tenth of the time of a review. A frame this large (in words) gets a piece that holds all others too.
_run.__code__ = _run.__code__.replace(co_stacksize=2**17)


def _open_streams() -> None:
    """Standard streams that were closed before the start lead nowhere, so that no file gets their number."""
    import os
    import sys

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", errors="backslashreplace", closefd=False))  # noqa: SIM115
