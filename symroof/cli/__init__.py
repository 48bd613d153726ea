"""The command line: parses arguments, calls the library, prints."""


def run() -> None:
    """The entry point. Everything else is imported inside it, where Ctrl-C is handled.

    Exit codes: 0 success, 1 a finding, 2 bad usage or bad input, 101 a bug in symroof, 130 interrupted.
    """
    import os
    import signal

    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(
                signal.SIGINT, signal.default_int_handler
            )  # replaces the handler of symroof/__init__
        code = _run()
    except KeyboardInterrupt:
        code = 130  # main.INTERRUPTED, which may not be imported yet
    os._exit(code)  # all output is flushed; tearing down the object graph only costs time


def _run() -> int:
    import gc
    import os
    import sys

    gc.disable()  # a short process: collection costs more than it frees
    os.environ.setdefault(
        "PYDANTIC_DISABLE_PLUGINS", "__all__"
    )  # plugin discovery reads the metadata of every installed package
    _open_streams()
    try:
        from symroof.cli.main import main

        code = main(sys.argv[1:])
    except BrokenPipeError:  # the reader closed the pipe before the error was written
        return 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    except OSError:  # a full disk; the command has reported it when its own output failed
        code = code or 2
    return code


# CPython allocates frames in chunks of 16 kB and frees a chunk when its last frame returns. Recursion back and forth across a chunk boundary then
# allocates at every call, a tenth of the time of a review. A frame this large (in words) gets a chunk that also holds all later frames.
_run.__code__ = _run.__code__.replace(co_stacksize=2**17)


def _open_streams() -> None:
    """Open standard streams that are closed on the null device, so that no other file gets their descriptor."""
    import os
    import sys

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(
                sys,
                name,
                open(  # noqa: SIM115
                    number,
                    "w" if number else "r",
                    encoding="utf-8",
                    errors="backslashreplace",
                    closefd=False,
                ),
            )
