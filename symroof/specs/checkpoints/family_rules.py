"""Rules of single classes, which no small expression says: functions of the expressions in ``families.yaml``.

Each takes the config, the number of the layer and the terms between its parentheses.
"""

from typing import Any

from symroof.specs.checkpoints.config_fields import MISSING, Config
from symroof.specs.checkpoints.family_fields import FUNCTIONS as FUNCTIONS
from symroof.specs.checkpoints.family_fields import function
from symroof.specs.checkpoints.json_text import kind_of_value
from symroof.specs.layers import MOST_LAYERS


@function
def whole_residual(c: Config, i: int) -> int:
    """Helium: the heads make up the residual, since its output projection is a square; anything else is an error."""
    width, n_heads = c.whole("hidden_size"), c.whole("num_attention_heads")
    head = c.whole("head_dim")
    if n_heads * head != width:
        c.fail("head_dim", f"{n_heads} heads of {head} are not hidden_size {width}")
    return head


@function
def makes_keys(c: Config, i: int) -> bool:
    """Gemma: the last ``num_kv_shared_layers`` have keys and values of earlier layers, so some layer must have its own."""
    shared = c.maybe("num_kv_shared_layers", 0) or 0
    if shared >= c.n_layers:
        message = f"{shared} leaves no layer of {c.n_layers} that makes keys and values"
        c.fail("num_kv_shared_layers", message)
    return i < c.n_layers - shared


@function
def gate_per(c: Config, i: int, kind: str) -> bool:
    """Laguna: a gate for each head, or for each of its elements."""
    if c.raw("gating") not in (True, "per-head", "per-element", "per_element", False):
        c.fail("gating", "expected true, false, 'per-head' or 'per-element'")
    return (c.raw("gating") in (True, "per-head")) == (kind == "head")


@function
def local_by_type(c: Config, i: int) -> str:
    """GPT-Neo: ``attention_types`` holds pairs of a pattern and how often it is repeated."""
    named: list[str] = []
    for pair in c.listed("attention_types") or [[["global", "local"], 12]]:
        right = isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], list)
        if not right or not isinstance(pair[1], int) or not 0 < pair[1] <= c.n_layers:
            message = "expected pairs of a list of words and how often it is repeated"
            c.fail("attention_types", message)
        if len(named) + len(pair[0]) * pair[1] > c.n_layers:
            named.clear()
            break
        named += [str(word) for word in pair[0]] * pair[1]
    if len(named) != c.n_layers or not set(named) <= {"global", "local"}:
        message = f"does not say 'global' or 'local' for each of {c.n_layers} layers"
        c.fail("attention_types", message)
    return "window" if named[i] == "local" else "full"


@function
def repeated_window(c: Config, i: int) -> int | None:
    """Mistral's params.json: one window, or a list of one for each layer that is repeated, null where there is none."""
    if not isinstance(pattern := c.raw("sliding_window"), list):
        return c.maybe("sliding_window")
    if not pattern or any(each is not None and type(each) is not int for each in pattern):
        c.fail("sliding_window", "expected whole numbers and null")
    return pattern[i % len(pattern)] or None


@function
def zamba2_layer(c: Config, i: int) -> str:
    """Zamba 2: which layers of its own 54 run the shared block too; a model of another depth needs the list."""
    if c.n_layers != 54:
        message = f"{c.n_layers} layers need layers_block_type, which is missing"
        c.fail("num_hidden_layers", message)
    return "hybrid" if i in (*range(6, 43, 6), 47, 51) else "linear"


@function
def repeated_block(c: Config, i: int) -> str:
    """RecurrentGemma: a pattern of blocks, repeated; attention has the window."""
    pattern = c.words("block_types", {"recurrent": "linear", "attention": "window"}, None)
    if not pattern:
        c.fail("block_types", "is missing")
    return pattern[i % len(pattern)]


NEMOTRON = {
    "mamba": ("linear", "none"),
    "linear_attention": ("linear", "none"),
    "attention": ("full", "none"),
    "full_attention": ("full", "none"),
    "mlp": ("none", "dense"),
    "moe": ("none", "sparse"),
}
LETTERS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}


@function
def nemotron(c: Config, i: int, part: str) -> Any:
    """Nemotron-H: each layer is one block, by a list of words or a pattern of letters; its mixer, what it feeds, or all ``layers``."""
    if (named := c.listed("layers_block_type") or c.listed("layer_types")) is None:
        pattern = c.text("hybrid_override_pattern") or "ME*-"
        if unknown := set(pattern) - set(LETTERS):
            message = f"has {min(unknown)!r}; the letters are {' '.join(LETTERS)}"
            c.fail("hybrid_override_pattern", message)
        named = [LETTERS[letter] for letter in pattern]
    for word in named:
        if not isinstance(word, str) or word not in NEMOTRON:
            c.fail("layers_block_type", f"has an unknown entry: {str(word)[:40]!r}")
    c.bounded("hybrid_override_pattern", len(named))
    stated = c.maybe("num_hidden_layers")
    if stated not in (None, len(named)):
        message = f"{stated} layers, but the list or pattern of blocks has {len(named)}"
        c.fail("num_hidden_layers", message)
    return len(named) if part == "layers" else NEMOTRON[named[i]][part == "feed"]


@function
def v4_layer(c: Config, i: int) -> str:
    """DeepSeek-V4: a list of kinds, or of the tokens in an entry (0 for none), which may go on behind the last layer; or every second."""
    heavy, chosen = "heavily_compressed_attention", "compressed_sparse_attention"
    ratios = {0: "window", 4: chosen, 128: heavy}
    known = {"sliding_attention": "window", heavy: heavy, chosen: chosen}
    named = c.words("layer_types", known, None)
    if named is None and (entries := c.wholes("compress_ratios")) is not None:
        if unknown := set(entries) - set(ratios):
            message = f"has {min(unknown)}; known are {', '.join(map(str, ratios))}"
            c.fail("compress_ratios", message)
        named = [ratios[each] for each in entries]
    if named is None:
        return heavy if i < 2 or i % 2 == 0 else chosen
    if len(named) < c.n_layers:
        name = "layer_types" if c.states("layer_types") else "compress_ratios"
        c.fail(name, f"has {len(named)} entries for {c.n_layers} layers")
    return named[i]


@function
def step_sparse(c: Config, i: int) -> str:
    """Step 3 and 3.5: the layers that a list or a text of numbers names have experts, or else all but the first few."""
    if isinstance(c.raw("moe_layers_enum"), str):
        named = c.text("moe_layers_enum", 6 * MOST_LAYERS) or ""
        numbers = {part.strip() for part in named.split(",")}
        if i == 0 and not all(part.isdigit() and len(part) < 6 for part in numbers - {""}):
            c.fail("moe_layers_enum", "expected numbers with commas between")
        return "sparse" if str(i) in numbers else "dense"
    sparse = c.lists("moe_layers_enum", i)
    if sparse is None:
        sparse = i >= c.whole("first_sparse_layer", least=0)
    return "sparse" if sparse else "dense"


@function
def scored(c: Config, i: int, otherwise: bool) -> bool:
    """Whether a layer has an indexer, or takes the keys that an earlier layer chose: by a list, a pattern of letters, or a rule."""
    named = c.words("indexer_types", {"full": "F", "shared": "S"}, c.n_layers)
    if named is None and isinstance(c.raw("index_topk_pattern"), str):
        pattern = c.text("index_topk_pattern") or ""
        if len(pattern) != c.n_layers or (i == 0 and set(pattern) - set("FS")):
            message = f"expected F or S for each of {c.n_layers} layers"
            c.fail("index_topk_pattern", message)
        return pattern[i] == "F"
    return named[i] == "F" if named else otherwise


# -------------------------------------------------------------------------------------------- Nemotron's searched blocks


def block(c: Config, i: int, part: str) -> Config:
    """Nemotron NAS: what a layer has of a part, in a list of objects; a linear layer instead of it is an error."""
    blocks = c.listed("block_configs", c.n_layers)
    if blocks is None:
        c.fail("block_configs", "is missing")
    if not (isinstance(blocks[i], dict) and isinstance(blocks[i].get(part), dict)):
        found = kind_of_value(blocks[i])
        message = f"expected an object with {part!r} for layer {i}, found {found}"
        c.fail("block_configs", message)
    defaults, place = {"no_op": False, "replace_with_linear": False}, (*c.place, "block_configs")
    return Config(c.document, (*place, i, part), blocks[i][part], defaults, {}, c.source, {})


@function
def absent(c: Config, i: int, part: str) -> bool:
    """Whether a layer lacks a part."""
    inside = block(c, i, part)
    if inside.flag("replace_with_linear"):
        inside.fail("replace_with_linear", "a linear layer instead of a block is not read")
    return inside.flag("no_op")


@function
def block_kv_heads(c: Config, i: int) -> int:
    group = block(c, i, "attention").whole("n_heads_in_group")
    n_heads = c.whole("num_attention_heads")
    if n_heads % group:
        message = f"n_heads_in_group {group} of layer {i} does not divide num_attention_heads"
        c.fail("block_configs", f"{message} {n_heads}")
    return n_heads // group


@function
def block_window(c: Config, i: int) -> int | None:
    return block(c, i, "attention").maybe("window_length")


@function
def block_width(c: Config, i: int) -> int:
    """Two thirds of a multiple of the residual's width, rounded up to a multiple of 256."""
    part = block(c, i, "ffn")
    factor = part.number("ffn_mult")
    if factor is None:
        part.fail("ffn_mult", "is missing")
    return -(-int(2 * factor * c.whole("hidden_size") / 3) // 256) * 256


# ------------------------------------------------------------------------------------------- widths of single classes


@function
def dt_rank(c: Config, i: int) -> int:
    """The width through which step sizes come: a number, or ``auto`` for a sixteenth of the residual's."""
    if c.raw("time_step_rank") == "auto":
        rank = -(-c.whole("hidden_size") // 16)
        c.fill(c.spellings("time_step_rank")[0], rank, "auto: hidden_size / 16, rounded up")
        return rank
    return c.whole("time_step_rank")


@function
def mamba2_width(c: Config, i: int) -> int:
    """Channels of a Mamba-2 layer, which its heads share out evenly."""
    width, n_heads = c.whole("expand") * c.whole("hidden_size"), c.whole("num_heads")
    of_one = None if c.raw("mamba_head") in ("auto", MISSING) else c.maybe("mamba_head")
    if width % n_heads or (of_one is not None and of_one * n_heads != width):
        heads = f" heads of {of_one}" if of_one is not None else " heads"
        c.fail("num_heads", f"{n_heads}{heads} do not make up the {width} channels of the state")
    return width


@function
def lfm2_width(c: Config, i: int) -> int:
    """LFM2: two thirds of the width the file says, times a factor, rounded up to a multiple."""
    width, factor = c.whole("intermediate_size"), c.number("block_ffn_dim_multiplier")
    if not c.flag("block_auto_adjust_ff_dim"):
        return width
    width, multiple = int(2 * width / 3), c.whole("block_multiple_of")
    return width if factor is None else multiple * -(-int(factor * width) // multiple)


@function
def olmo_key_dim(c: Config, i: int) -> int:
    """OLMo hybrid: three quarters of an even share of the residual width, where the file does not say."""
    width = c.maybe("linear_key_head_dim")
    if width is None:
        n_heads = c.maybe("linear_num_key_heads") or c.whole("num_attention_heads")
        width = int(0.75 * c.whole("hidden_size") / n_heads)
        c.fill("linear_key_head_dim", width, "0.75 * hidden_size / linear_num_key_heads")
    return width


@function
def twice_share(c: Config, i: int) -> int:
    """Zamba: a head has its share of the residual and the embedding beside it; another width, or a block for each layer, is an error."""
    width, n_heads = 2 * c.whole("hidden_size"), c.whole("num_attention_heads")
    for name, own in (("attention_hidden_size", width), ("attention_head_dim", width // n_heads)):
        if c.maybe(name) not in (None, own):
            c.fail(name, f"is not {own}, which follows from hidden_size")
    if not c.flag("tie_word_embeddings"):
        message = "without tied weights the class shares no block, which is not read"
        c.fail("tie_word_embeddings", message)
    return width // n_heads


@function
def adapter_rank(c: Config, i: int) -> int:
    """Zamba 2: the rank of the adapters; biases of the shared matrices are an error."""
    if c.flag("use_bias"):
        c.fail("add_bias_linear", "biases of a shared block are not read")
    return c.whole("adapter_rank")


@function
def rwkv_heads(c: Config, i: int) -> int:
    """RWKV-7: as many heads as the residual has room for; values of another width are an error."""
    width, head = c.whole("hidden_size"), c.whole("head_dim")
    if width % head:
        c.fail("head_dim", f"{head} does not divide hidden_size {width}")
    if set(c.wholes("value_dim") or [width]) != {width}:
        c.fail("value_dim", "values that are not as wide as the residual are not read")
    return width // head
