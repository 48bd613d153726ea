"""A table as HTML, for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Header, rows and caption as an HTML table; every text is escaped.

    >>> print(html_table(["name"], [["a < b"]]))
    <table>
    <tr><th>name</th></tr>
    <tr><td>a &lt; b</td></tr>
    </table>
    """

    def line(tag: str, texts: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts) + "</tr>"

    above = [f"<caption>{escape(caption)}</caption>"] if caption else []
    return "\n".join(["<table>", *above, line("th", header), *(line("td", row) for row in rows), "</table>"])
