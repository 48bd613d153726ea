"""Templates of one's own for a review: Jinja with the marks of the shipped words, sound and unsound."""

from __future__ import annotations

from hypothesis import strategies as st

from ..attempt import Attempt
from .formulas import mutated

SOUND = (
    "<< title >>\n", "<% for case in cases %><< case >>\n<% endfor %>", "<< verdict >>", "<% set x = 3 %><< x * 2 >>", "<% if cases %>yes<% else %>no<% endif %>", "<< cases | length >>",
    "<% macro m(a) %><< a >><% endmacro %><< m(1) >>", "<< title | upper >>", "# plain\n", "<# a note #>", "<< format_name >>", "<% raw %><< x >><% endraw %>",
)  # fmt: skip
UNSOUND = (
    "<< nosuch.a.b >>", "<< 1/0 >>", "<< ''.__class__ >>", "<< cycler.__init__.__globals__ >>", "<% include 'review.j2' %>", "<% include 'formats/markdown.j2' %>", "<% extends 'review.j2' %>",
    "<% import 'formats/html.j2' as f %>", "<% include '/etc/passwd' %>", "<< 9**9**9 >>", "<< 'a' * 10**10 >>", "<% for i in range(10**9) %>x<% endfor %>", "<< range(10**9) | list >>", "<<",
    "<% for %>", "<% nosuch %>", "<< x | nosuch >>", "<< title.nosuch() >>", "<< self >>", "<< loop >>", "<% macro m() %><< m() >><% endmacro %><< m() >>", "<< " + "(" * 300 + "1" + ")" * 300 + " >>",
    "<< " + "[" * 2000 + "]" * 2000 + " >>", "<< '%s' | format >>", "<< 'x'.format(*title) >>", "<< title.encode >>", "\x1b[31m", "<< lipsum(n=100000) >>", "<< namespace >>", "<% set x = x %><< x + 1 >>",
    "<< [1,2].append >>", "<< dict(a=1)['b'].c >>", "<< '<fuzzlive>' >>", "<< 1 + 'a' >>", "<< title[10**30] >>", "<< 'a'|indent(10**9) >>", "<< 'a'.center(10**10) >>", "<< (1).__class__.__mro__ >>",
)  # fmt: skip


NO_LINE = r"(?m)^t\.j2: template: "
"""An error of a template that does not say where."""


def attempts() -> st.SearchStrategy[Attempt]:
    """A small study through a template in each format; a mistake in it is an error with the template's line."""
    part = st.one_of(
        st.sampled_from(SOUND), st.sampled_from(UNSOUND), st.sampled_from(SOUND).flatmap(mutated)
    )
    text = st.lists(part, min_size=1, max_size=3).map("\n".join)
    start = (
        "report",
        "--model",
        "llama-3-8b",
        "--hardware",
        "h100-sxm",
        "--prompt",
        "64",
        "--no-plots",
        "--template",
        "t.j2",
        "-o",
        "-",
        "--format",
    )
    return st.tuples(text, st.sampled_from(("md", "tex", "html"))).map(
        lambda t: Attempt(
            (*start, t[1]), {"t.j2": t[0].encode("utf-8", "surrogatepass")}, never=NO_LINE
        )
    )
