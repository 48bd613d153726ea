"""``symroof probe``: this machine measured at a model's shapes, for ``symroof calibrate``."""

import click

from symroof.cli.output import say, write_file

LISTS = {"prompts": "512,2048,8192", "batches": "1,8,32", "contexts": "1024,8192"}


def _whole(context: click.Context, option: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text[:40]!r} is not a list of whole numbers") from None
    if not all(0 < number <= 1 << 20 for number in numbers):
        raise click.BadParameter("must be from 1 to 1,048,576")
    return numbers


@click.command("probe")
@click.option(
    "--model",
    required=True,
    metavar="NAME|PATH",
    help="Catalogue or hub name, model spec, config.json, or GGUF file.",
)
@click.option(
    "-o",
    "--out",
    required=True,
    metavar="FILE.csv",
    help="Output file, a CSV that `symroof calibrate` reads.",
)
@click.option(
    "--device",
    default="",
    metavar="NAME",
    help="cuda, mps or cpu (default: the first one available).",
)
@click.option(
    "--weights",
    "precision",
    default="bf16",
    show_default=True,
    metavar="NAME",
    help="Precision of weights, cache and activations: bf16, fp16, fp32.",
)
@click.option(
    "--prompts",
    default=LISTS["prompts"],
    show_default=True,
    metavar="LIST",
    callback=_whole,
    help="Prompt lengths to prefill, comma-separated.",
)
@click.option(
    "--batches",
    default=LISTS["batches"],
    show_default=True,
    metavar="LIST",
    callback=_whole,
    help="Batch sizes of decode steps, comma-separated.",
)
@click.option(
    "--contexts",
    default=LISTS["contexts"],
    show_default=True,
    metavar="LIST",
    callback=_whole,
    help="Context lengths of decode steps, comma-separated.",
)
def command(
    model: str,
    out: str,
    device: str,
    precision: str,
    prompts: tuple[int, ...],
    batches: tuple[int, ...],
    contexts: tuple[int, ...],
) -> None:
    """Measure this machine at the shapes of a model, with random weights (needs PyTorch: pip install 'symroof[probe]').

    symroof probe --model llama-3.1-8b -o measured.csv

    A decoder layer's prefill and decode, eager, one device; a model's time is that of all its layers and its head. Then
    `symroof calibrate measured.csv --model llama-3.1-8b --hardware NAME` fits what this machine achieves of its peak.
    """
    from symroof.calibrate.probe import probe
    from symroof.specs.model_files import read_model

    probed = probe(read_model(model)[0], device, precision, prompts, batches, contexts)
    write_file(out, probed.csv())
    say(f"{probed.model} in {probed.precision} on {probed.device}: {len(probed.rows)} rows")
    for what, value, unit in probed.ceilings:
        say(f"{what}: {value:.4g} {unit}")
    for words in probed.skipped:
        say(f"! {words}")
