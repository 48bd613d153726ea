"""The command line: read arguments, call a room, print."""

from __future__ import annotations


def run() -> None:
    """The entry point: exit codes and errors in one place.

    0 done, 1 a finding, 2 bad usage or bad input, 101 a bug in symroof.
    """
    import gc
    import os
    import sys

    gc.disable()  # a short process: collecting costs more than it frees
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # looking for plugins reads the record of every package installed
    from symroof.cli.main import main

    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    except OSError:  # a full disk; the command has reported it when its own output failed
        code = code or 2
    os._exit(code)  # everything is written and closed; taking the object graph apart would only cost time
