"""Evidence: published measurements against symroof and its peers; not a part of the package."""

from pathlib import Path

FOLDER = Path(__file__).parent


def filled(name: str, **facts: object) -> str:
    """The page ``pages/NAME.md`` with its facts put in."""
    text = (FOLDER / "pages" / f"{name}.md").read_text(encoding="utf-8")
    return text.format_map(facts)


def cells(*values: object) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(map(str, values))} |"
