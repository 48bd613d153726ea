"""Markdown and LaTeX notes with annotated numbers."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from ..attempt import Attempt
from ..vocabulary import (
    NASTY,
    any_name,
    assumption,
    device,
    model,
    nasty,
    plain_value,
    precision,
    quantity,
    rarely,
    setting,
    threshold,
    units,
)
from .formulas import equation, formula, mutated

SAYS = (
    "The cache takes {} ", "It takes about {} ", "| {} | b |\n|---|---|\n| {} ", "- under {} ", "**{}** ", "`{}` ", "between 1 and {} ", "6 × 70.6 = {} ", "{} per GPU ",
    "{} per 1K tokens ", "> no more than {} ", "# A {}\n\n", "${}$ ", "<b>{}</b> ", "1.3 to {} ", "a {} ({} in all) ", "{},{} ", "1,{} ", "−{} ",
)  # fmt: skip
PARTS = st.one_of(
    model().map(lambda name: f"model={name}"),
    device().map(lambda name: f"hardware={name}"),
    plain_value("prompt").map(lambda text: f"prompt={text}"),
    plain_value("batch").map(lambda text: f"batch={text}"),
    precision().map(lambda text: f"kv={text or 'fp16'}"),
    assumption().map("=".join),
    st.just("targets.itl='50 ms'"),
    st.just("needs.mfu=0.5"),
    st.just("output=64"),
)


def _quoted(text: str) -> str:
    return f"'{text}'" if " " in text and "'" not in text else text


@cache
def annotation(name: str) -> st.SearchStrategy[str]:
    """The text of an annotation, mostly one that speaks of a quantity."""
    odd = st.one_of(
        setting().map(lambda text: _quoted(text) if " " not in text else text.replace("=", "='", 1) + "'"),
        st.sampled_from(("preset=1", "nosuch=1", "draft=[1]", "value='1.34 GB'", "between='model=gpt2 | model=llama-3-8b'", "for_all.prompt=1..8192", "where.b=kv_bytes_per_element", "id=x", "tolerance=5%", "=", "a=b=c", "'", "layers=[]", "values=1", "for=batch", "with=batch", "detail=weights")),
        nasty(),
    )  # fmt: skip
    own = st.one_of(
        st.just(name),
        st.just(f"{name} model=llama-3-70b hardware=h100-sxm prompt=4096 output=64"),
        st.just(f"{name} formula=2"),
        formula(units()[name]).map(lambda text: f"{name} formula='{text}'"),
        formula(units()[name]).map(lambda text: f"expression='{text}'"),
        st.just(
            f"compare={name} between='hardware=h100-sxm | hardware=h200' model=llama-3-8b prompt=512"
        ),
    )
    other = st.one_of(
        threshold().map(
            lambda found: f"threshold={found} hardware=h100-sxm model=llama-3-8b prompt=512"
        ),
        equation().map(lambda text: f"threshold='{text}' for=batch"),
        quantity().map(lambda found: f"relation={found} model=gpt2 hardware=l4"),
        any_name().map(lambda found: f"moves={name} with={found} model=gpt2"),
        st.tuples(device(), any_name()).map(lambda t: f"catalogue={t[0]}.{t[1]}"),
        any_name(),
    )
    head = rarely(own, other, 4)
    parts = st.lists(rarely(PARTS, odd, 10), max_size=2).map(" ".join)
    return st.tuples(head, parts).map(lambda t: f"{t[0]} {t[1]}".strip())


NUMBERS = (
    "1.34 GB",
    "295",
    "66 ms",
    "2 tokens",
    "8",
    "1.43x",
    "20 %",
    "3.35 TB/s",
    "5 USD",
    "80 GiB",
    "24 tokens/s",
    "70.6",
)


@cache
def _number(name: str) -> st.SearchStrategy[str]:
    """A number as prose has it, in the unit of a quantity."""
    unit = units()[name]
    return (
        plain_value(name)
        if unit not in ("token", "request", "device", "parameter")
        else st.sampled_from(("8", "1,024", "3.5")).map(lambda count: f"{count} {unit}s")
    )


def note() -> st.SearchStrategy[str]:
    """A note of a few sentences, each with its annotation."""
    odd = st.sampled_from(
        (
            *NUMBERS,
            "1e400 GB",
            "0",
            "9" * 300,
            "1/2",
            "½",
            "１２",
            "0x8 GB",
            "1.2.3 GB",
            "memory",
            "-5 ms",
            "1e-400 s",
            "∞",
        )
    )
    sentence = quantity().flatmap(
        lambda name: st.tuples(
            rarely(st.sampled_from(SAYS[:2]), st.sampled_from(SAYS), 2),
            rarely(_number(name), odd, 6),
            annotation(name),
        ).map(lambda t: t[0].replace("{}", t[1]) + f"<!-- symroof: {t[2]} -->")
    )
    front = rarely(
        st.just(""),
        st.sampled_from(
            (
                "---\ntitle: x\n---\n",
                "<!-- symroof-defaults: model=gpt2 -->\n",
                "<!-- symroof: ",
                "```\n",
                "\ufeff",
                "<!--\n",
            )
        ),
        5,
    )
    joined = st.tuples(front, st.lists(sentence, min_size=1, max_size=3)).map(
        lambda t: t[0] + "\n\n".join(t[1]) + "\n"
    )
    stranger = st.tuples(joined, st.sampled_from(NASTY)).map(lambda t: t[1] + " " + t[0])
    return rarely(joined, st.one_of(joined.flatmap(mutated), stranger), 5)


def latex_note() -> st.SearchStrategy[str]:
    sentence = st.tuples(
        st.sampled_from(("1.34\\,GB", "\\SI{66}{ms}", "295", "$1.3 \\times 10^9$ bytes")),
        quantity().flatmap(annotation),
    ).map(lambda t: f"It takes {t[0]}. % symroof: {t[1]}\n")
    return st.lists(sentence, min_size=1, max_size=3).map(
        lambda found: "\\section{A}\n" + "".join(found) + "\\end{document}\n"
    )


def attempts() -> st.SearchStrategy[Attempt]:
    """Notes are checked in every form of answer, and corrected."""
    forms = (
        (),
        ("--json",),
        ("--format", "github"),
        ("--fix", "-o", "copy.md"),
        ("--fix",),
        ("--fix", "--in-place"),
        ("--strict",),
        (),
    )
    of_markdown = st.tuples(note(), st.sampled_from(forms)).map(
        lambda t: Attempt(("check", "n.md", *t[1]), {"n.md": t[0].encode("utf-8", "surrogatepass")})
    )
    of_latex = st.tuples(latex_note(), st.sampled_from(forms[:3])).map(
        lambda t: Attempt(
            ("check", "n.tex", *t[1]), {"n.tex": t[0].encode("utf-8", "surrogatepass")}
        )
    )
    return rarely(of_markdown, of_latex, 8)
