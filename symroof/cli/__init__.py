"""The command line: parses arguments, calls the library, prints."""


def run() -> None:
    """The entry point. Everything else is imported inside it, where Ctrl-C is handled.

    Exit codes: 0 success, 1 a finding, 2 bad usage or bad input, 101 a bug in symroof, 130 interrupted.
    """
    import os
    import signal

    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(  # replaces the handler of symroof/__init__
                signal.SIGINT, signal.default_int_handler
            )
        code = _run()
    except KeyboardInterrupt:
        code = 130  # main.INTERRUPTED, which may not be imported yet
    os._exit(code)  # all output is flushed; tearing down the object graph only costs time


def _run() -> int:
    import gc
    import os
    import sys

    gc.disable()  # a short process: collection costs more than it frees
    # plugin discovery reads the metadata of every installed package
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed: no other file may get its descriptor
            setattr(sys, name, open(os.devnull, "w" if number else "r"))  # noqa: SIM115
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
