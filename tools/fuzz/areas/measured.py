"""Tables of measurements for ``calibrate``."""

from __future__ import annotations

from hypothesis import strategies as st

from ..attempt import Attempt
from ..vocabulary import NASTY, ODD, device, model, rarely
from .lines import option

COLUMNS = (
    "prompt",
    "batch",
    "tp",
    "context",
    "cached_prefix",
    "output",
    "ttft_ms",
    "itl_ms",
    "ttft",
    "itl",
    "itl_us",
    "ttft_s",
    "pp",
    "ep",
    "mfu",
    "nosuch",
    "itl_GB",
    "model",
    "hardware",
)
FITS = (
    "mfu",
    "mbu",
    "mfu,mbu",
    "step_overhead",
    "layer_overhead,mbu",
    "link_latency",
    "prefill_overhead,mfu",
    "queue_time",
    "nosuch",
    "",
    "mfu,mfu",
    "batch",
    "mfu,mbu,step_overhead,layer_overhead,link_latency,prefill_overhead,queue_time",
)


@st.composite
def table(draw) -> str:
    """A table; latencies mostly above what the peak allows."""
    times = draw(st.sampled_from((("ttft_ms", "itl_ms"), ("itl_ms",), ("ttft_ms",), ("itl",))))
    more = draw(
        st.lists(
            rarely(
                st.sampled_from(("tp", "cached_prefix", "context")), st.sampled_from(COLUMNS), 4
            ),
            max_size=1,
        )
    )
    columns = ["prompt", "batch", *more, *times]
    cells = {
        "prompt": ("128", "1024", "4096"),
        "batch": ("1", "8", "64"),
        "ttft_ms": ("30", "500", "5000"),
        "itl_ms": ("10", "25.5", "80"),
        "itl": ("0.02", "0.3"),
        "tp": ("1", "2"),
    }
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        rows.append(
            [
                draw(
                    rarely(
                        st.sampled_from(cells.get(name, ("1", "100", "0.1"))),
                        st.one_of(st.sampled_from(ODD), st.sampled_from(NASTY)),
                        40,
                    )
                )
                for name in columns
            ]
        )
    mark = draw(rarely(st.just(","), st.sampled_from((";", "\t", ", ")), 10))
    head = draw(
        rarely(
            st.sampled_from(("", "# a note\n")),
            st.sampled_from(("\ufeff", '"', "\n\n", "\x00")),
            10,
        )
    )
    return (
        head
        + "\n".join(mark.join(row) for row in [columns, *rows])
        + draw(st.sampled_from(("\n", "", "\n\n,,,\n", "\r\n")))
    )


def attempts() -> st.SearchStrategy[Attempt]:
    case = st.tuples(model(), device()).map(lambda t: ("--model", t[0], "--hardware", t[1]))
    return st.tuples(
        table(),
        case,
        option("--fit", st.sampled_from(FITS)),
        option("--tp", st.sampled_from(("2", "0")), 6),
        st.sampled_from(((), ("--json",), ("-o", "-"), ("-o", "fit.yaml"))),
    ).map(
        lambda t: Attempt(
            ("calibrate", "m.csv", *t[1], *t[2], *t[3], *t[4]),
            {"m.csv": t[0].encode("utf-8", "surrogatepass")},
        )
    )
