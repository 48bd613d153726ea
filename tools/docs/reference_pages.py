"""The pages of the reference that are made when the site is built: command line, theory and catalogue."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click
import yaml

from symroof.cli.main import COMMANDS, load
from tools.docs import ROOT, found
from tools.markdown import block, headed, table

THEORY = ROOT / "specs" / "theories" / "inference"


def write_pages(folder: Path) -> None:
    """Write each page that differs from what the folder has; remove all others. Tables stay out of the search, where they would hide the pages that explain."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for path in set(folder.glob("*.md")) - {folder / f"{name}.md" for name in made}:
        path.unlink()
    for name, lines in made.items():
        unsearched = [] if name == "cli" else ["---", "nosearch: true", "---", ""]
        path, text = folder / f"{name}.md", "\n".join([*unsearched, *lines]) + "\n"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def pages() -> dict[str, list[str]]:
    """Every page, by the name of its file."""
    return {
        "cli": cli(),
        "inputs": inputs(),
        "quantities": quantities(),
        "thresholds": thresholds(),
        "counting-choices": counting_choices(),
        "models": models(),
        "hardware": hardware(),
        "precisions": precisions(),
        "engines-and-presets": engines_and_presets(),
        "measured-sources": measured(),
    }


# ---------------------------------------------------------------------------------------------------------------- Markdown


def listed(kind: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = found(f"list {kind}")["entries"]
    return entries


def escaped_table(header: list[str], rows: Iterable[Iterable[object]]) -> list[str]:
    return table(header, ([cell(value) for value in row] for row in rows))


def cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")


def code(text: object) -> str:
    return f"`{text}`" if text not in (None, "") else ""


def term(name: str, *said: str) -> list[str]:
    """An entry of a definition list."""
    first, *rest = [line for line in said if line]
    return [f"`{name}`", f": {first}", *[f"  {line}" for more in rest for line in ("", more)], ""]


# ------------------------------------------------------------------------------------------------------------ command line


def cli() -> list[str]:
    commands = {name: load(name) for name in COMMANDS}
    options = {name: options_of(name, command) for name, command in commands.items()}
    counted = Counter(option for records in options.values() for option in records)
    shared = [
        option
        for option, count in counted.items()
        if count >= len(COMMANDS) // 2 and "[STUDY]" not in option and "--json" not in option
    ]
    says = "`symroof COMMAND --help` prints the same. [Exit codes](../errors-and-exit-codes.md)."
    both = "Describe a case by a study file, these options, or both. Options override the study."
    lines = headed("# Command line", says, "## Options of a case", both) + option_table(shared)
    for name, command in commands.items():
        context = click.Context(command, info_name=f"symroof {name}")
        usage = " ".join([f"symroof {name}", *command.collect_usage_pieces(context)])
        lines += headed(f"## symroof {name}") + block("text", usage)
        lines += [*prose(command.help or ""), ""]
        if set(shared) & set(options[name]):
            lines += headed("Also accepts the [options of a case](#options-of-a-case).")
        lines += option_table([option for option in options[name] if option not in shared])
    return lines


def options_of(name: str, command: click.Command) -> list[tuple[str, str]]:
    """Options and arguments as ``--help`` has them, but --help itself and arguments that the usage line says all of."""
    context = click.Context(command, info_name=f"symroof {name}")
    records = [
        record
        for parameter in command.get_params(context)
        if (record := parameter.get_help_record(context))
    ]
    return [record for record in records if record[1] and "--help" not in record[0]]


def option_table(records: list[tuple[str, str]]) -> list[str]:
    rows = [[code(option), escaped(said)] for option, said in records]
    return escaped_table(["option", "meaning"], rows) if rows else []


def prose(text: str) -> Iterator[str]:
    """The help of a command: paragraphs, and its examples as code."""
    for paragraph in cleandoc(text).replace("\b\n", "").split("\n\n"):
        if paragraph.lstrip().startswith("symroof "):
            yield from block("text", paragraph)
        else:
            yield from headed(escaped(paragraph))


def escaped(text: str) -> str:
    """Prose in which Markdown reads no markup but code."""
    inside, out = False, []
    for letter in text:
        inside ^= letter == "`"
        out.append(f"\\{letter}" if letter in "*_<>[]" and not inside else letter)
    return "".join(out)


# -------------------------------------------------------------------------------------------------- theory and its thresholds


def parts_with(key: str, empty: str = "") -> Iterator[tuple[str, set[str]]]:
    """The parts of the theory that define names of a kind, in the theory's own order; with none, a part that has the other kind."""
    order = yaml.safe_load(THEORY.with_suffix(".yaml").read_text(encoding="utf-8"))["parts"]
    for name in order:
        part = yaml.safe_load((THEORY / f"{name}.yaml").read_text(encoding="utf-8"))
        if part.get(key) or part.get(empty):
            yield part["title"], set(part.get(key, ()))


def quantities() -> list[str]:
    entries = {entry["name"]: entry for entry in listed("quantities")}
    says = f"The {len(entries)} built-in quantities. `symroof derive NAME` shows how a quantity follows from inputs."
    lines = headed("# Quantities", says)
    lines += headed(
        "Where several formulas exist, a [counting choice](counting-choices.md) selects one."
    )
    parts = [*parts_with("define")]
    of_parts = {name for _, names in parts for name in names}
    # prefill_flops, decode_flops …: declared once for each step
    steps = [entry for name, entry in entries.items() if name not in of_parts]
    grouped = [
        (title, [entry for name, entry in entries.items() if name in names] if names else steps)
        for title, names in parts_with("define", "each_step")
    ]
    for title, members in grouped:
        lines += headed(f"## {title}")
        for entry in members:
            unit = f" [{entry['unit']}]" if entry["unit"] else ""
            formula = entry["definition"] or entry["search"]
            lines += term(
                entry["name"],
                f"{escaped(entry['meaning'])}{unit}",
                code(one_line(formula)),
                source(entry["reference"]),
            )
    return lines


def source(reference: str | None) -> str:
    return "" if reference in (None, "definition") else f"*{escaped(reference or '')}*"


def one_line(formula: object) -> str:
    text = formula if isinstance(formula, str) else json.dumps(formula, ensure_ascii=False)
    return " ".join(text.split()) if formula else ""


def inputs() -> list[str]:
    entries = {entry["name"]: entry for entry in listed("inputs")}
    lines = headed(
        "# Inputs",
        f"The {len(entries)} inputs of a case. Most come from the model, the device and the engine. `--set NAME=VALUE` sets any of them.",
    )
    header = ["input", "unit", "default", "meaning", "also called"]
    grouped = [
        (title, [entries.pop(name) for name in [*entries] if name in names])
        for title, names in parts_with("inputs")
    ]
    for title, members in [*grouped, ("Others", [*entries.values()])]:
        if members:
            lines += headed(f"## {title}") + escaped_table(header, map(of_input, members))
    return lines


def of_input(e: dict[str, Any]) -> list[object]:
    also = ", ".join(map(code, e["aliases"]))
    return [code(e["name"]), e["unit"], e["default"], escaped(e["meaning"]), also]


def thresholds() -> list[str]:
    entries = listed("thresholds")
    says = "Equations with a name, each solved for one input: `symroof solve NAME`. To solve any other equation, write"
    lines = ["# Thresholds", "", says, "`symroof solve 'LHS = RHS' --for INPUT`.", ""]
    header = ["threshold", "for", "equation", "meaning"]
    for group in dict.fromkeys(entry["group"] for entry in entries):
        rows = [
            [code(e["name"]), code(e["unknown"]), code(e["equation"]), escaped(e["meaning"])]
            for e in entries
            if e["group"] == group
        ]
        lines += headed(f"## {group.capitalize()}") + escaped_table(header, rows)
    return lines


def counting_choices() -> list[str]:
    bold = {True: "**", False: ""}
    rows = [
        [code(e["name"]), code(e["value"]).join([bold[e["default"]]] * 2), escaped(e["meaning"])]
        for e in listed("assumptions")
    ]
    says = "Switches, set with `--assume NAME=VALUE` or under `assume:` in a study. The default is bold."
    return headed("# Counting choices", says) + escaped_table(["choice", "value", "meaning"], rows)


# --------------------------------------------------------------------------------------------------------------- catalogue


def models() -> list[str]:
    rows = [
        [code(e["name"]), e["title"], f"{e['parameters'] / 1e9:,.2f}", e["attention"], e["experts"]]
        for e in listed("models")
    ]
    says = f"{len(rows)} models. Each parameter count is derived from the dimensions and equals the published one. `symroof show NAME` prints all details."
    header = ["name", "model", "billion parameters", "layers", "experts"]
    return headed("# Models", says) + escaped_table(header, rows)


def hardware() -> list[str]:
    rows = [
        [code(e["name"]), e["title"], e["dense_16_bit_peak"], e["mem_bandwidth"], e["mem_capacity"]]
        for e in listed("hardware")
    ]
    says = f"{len(rows)} devices. `symroof show NAME` prints every peak, link and price, with source and date."
    header = ["name", "device", "dense 16-bit peak", "bandwidth", "memory"]
    return headed("# Hardware", says) + escaped_table(header, rows)


def precisions() -> list[str]:
    rows = [[code(e["name"]), e["bits"], escaped(e["meaning"])] for e in listed("precisions")]
    says = "Formats for `--weights`, `--kv` and `--activations`, and checkpoint formats for `--weights`. Bits per element also work: `4.84 bit`."
    return headed("# Precisions", says) + escaped_table(["name", "bits", "meaning"], rows)


def engines_and_presets() -> list[str]:
    engines = [
        [code(e["name"]), e["version"], e["class"], escaped(e["title"])] for e in listed("engines")
    ]
    presets = [[code(e["name"]), escaped(e["title"])] for e in listed("presets")]
    says = "An engine sets the defaults of the server: `--engine NAME` or `NAME@VERSION`."
    counts = "A preset counts as another tool does: `--preset NAME`, or a side of `symroof diff`."
    return [
        *headed("# Engines and presets", "## Engines", says),
        *escaped_table(["name", "version", "class", "title"], engines),
        *headed("## Presets", counts),
        *escaped_table(["name", "counts as"], presets),
    ]


def measured() -> list[str]:
    rows = [
        [code(e["name"]), e["measurements"], e["serving"], e["ceilings"], escaped(e["license"])]
        for e in listed("measured")
    ]
    says = "`symroof show NAME` lists every figure with its place in the source. [How well they are predicted](../../measured.md)."
    header = ["source", "latencies", "served rates", "ceilings", "licence"]
    return headed("# Sources of measurements", says) + escaped_table(header, rows)
