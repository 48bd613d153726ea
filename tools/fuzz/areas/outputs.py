"""Where outputs go: names that are none, folders, devices, files that are there already."""

from __future__ import annotations

from hypothesis import strategies as st

from ..attempt import Attempt
from ..vocabulary import rarely

PATHS = (
    "out.csv", "out.md", "deep/er/out.csv", "", ".", "..", "/dev/null", "/dev/full", "/dev/stdout", "there.csv", "there.csv/x.csv", "folder", "folder/x.svg", "-", "--", "-x.csv", "a" * 300 + ".csv",
    "x" * 200 + "/" + "y" * 200 + ".svg", "a\nb.csv", "\x1b[31m.csv", "caf\u00e9.csv", "\udcff.csv", "b\udcff.yaml", "a\nb.yaml", "\x1b[31m.md", "\u202e.svg", "x.exe", "x.parquet", "x.nc", "x.zarr", "x.svg", "x.pdf", "x.png", ".csv", "x.csv ", "/proc/self/x.csv",
    "/nosuch/x.csv", "~/../x.csv", "con.csv", "s.yaml", "n.md", "*.csv", "$HOME.csv", "`id`.md", "|x.csv", "folder/", "./././x.csv",
)  # fmt: skip
CASE = ("--model", "llama-3-8b", "--hardware", "h100-sxm", "--prompt", "64", "--output", "8")
STUDY = b"model: llama-3-8b\nhardware: h100-sxm\nworkload: {prompt: 64, output: 8}\n"
NOTE = b"It takes 2 GB. <!-- symroof: weight_bytes model=gpt2 -->\n"
FILES = {
    "there.csv": b"old\n",
    "folder/kept": b"",
    "s.yaml": STUDY,
    "n.md": NOTE,
    "b\udcff.yaml": STUDY,
    "a\nb.yaml": STUDY,
    "\x1b[31m.md": NOTE,
}


def attempts() -> st.SearchStrategy[Attempt]:
    """Every command that writes, or reads a path."""
    path = st.sampled_from(PATHS)
    writes = [
        path.map(lambda to: ("sweep", *CASE, "--over", "batch=1:3", "-q", "itl", "-o", to)),
        path.map(
            lambda to: ("sweep", *CASE, "--over", "batch=1:3", "-q", "itl", "-o", to, "--resume")
        ),
        path.map(lambda to: ("plot", "itl", *CASE, "-o", to)),
        path.map(lambda to: ("report", "s.yaml", "--no-plots", "--format", "md", "-o", to)),
        path.map(lambda to: ("check", "n.md", "--fix", "-o", to)),
        st.tuples(path, st.sampled_from(("md", "md,md", "x", "", "md,", "pdf,x"))).map(
            lambda t: ("report", "s.yaml", "--no-plots", "--format", t[1], "-o", t[0])
        ),
    ]
    reads = [
        st.tuples(st.sampled_from(("validate", "check", "eval", "report", "show", "select")), path)
        .map(list)
        .map(tuple),
        path.map(
            lambda source: ("eval", "--model", f"./{source}", "--hardware", "l4", "--prompt", "64")
        ),
        path.map(lambda source: ("calibrate", source, *CASE)),
        path.map(lambda source: ("eval", *CASE[2:], "--model", source)),
    ]
    found = rarely(st.one_of(writes), st.one_of(reads), 3)
    return found.map(lambda arguments: Attempt(tuple(arguments), FILES))
