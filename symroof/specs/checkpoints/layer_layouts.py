"""Which layer is of which kind: the rules by which classes lay out attention, recurrences and experts."""

from collections.abc import Callable, Mapping

from symroof.specs.checkpoints.config_fields import Config

FULL, SLIDING, CHUNKED, LINEAR, CONV, HYBRID = (
    "full_attention",
    "sliding_attention",
    "chunked_attention",
    "linear_attention",
    "conv",
    "hybrid",
)
INDEXED = "indexed_attention"
NOTHING, DENSE, SPARSE = "none", "dense", "sparse"
MIXERS = {word: word for word in (FULL, SLIDING, CHUNKED, LINEAR, CONV, HYBRID, INDEXED)} | {
    "attention": FULL,
    "mamba": LINEAR,
    "short_conv": CONV,
    "minimax_m3_sparse": INDEXED,
    "deepseek_sparse_attention": INDEXED,
}
"""Words of ``layer_types``, older ones with their newer equivalents."""
FEEDS = {DENSE: DENSE, SPARSE: SPARSE, "moe": SPARSE, "mlp": DENSE, "hash_moe": SPARSE}

Layout = Callable[[Config], list[str]]
Rule = Callable[[Config, int], str]


def each(rule: Rule) -> Layout:
    """A word for each layer by a rule of its number, the first being 0."""
    return lambda c: [rule(c, i) for i in range(c.n_layers)]


def all_of(word: str) -> Layout:
    """One word for every layer."""
    return lambda c: [word] * c.n_layers


ALL_FULL, ALL_LINEAR, NO_FEEDS = all_of(FULL), all_of(LINEAR), all_of(NOTHING)


def typed(rule: Rule, longer: bool = False) -> Layout:
    """The list that the file gives, or else a rule; a list may be ``longer`` by the layers that predict tokens ahead."""
    return lambda c: _listed(c, "layer_types", MIXERS, longer) or each(rule)(c)


def feed_typed(rule: Rule, longer: bool = False) -> Layout:
    """The same for what follows the mixer."""
    return lambda c: _listed(c, "mlp_layer_types", FEEDS, longer) or each(rule)(c)


def _listed(c: Config, name: str, known: Mapping[str, str], longer: bool) -> list[str] | None:
    ahead = (c.maybe("num_nextn_predict_layers", 0) or 0) if longer else 0
    listed = c.listed(name)
    words = c.words(
        name, known, c.n_layers + (ahead if listed is not None and len(listed) != c.n_layers else 0)
    )
    return None if words is None else words[: c.n_layers]


# ---------------------------------------------------------------------------------------------- rules for the mixers


def windowed(c: Config, i: int) -> str:
    """Every layer has the window, where there is one."""
    return SLIDING if c.maybe("sliding_window") else FULL


def windowed_if_used(c: Config, i: int) -> str:
    """Every layer has the window where it is switched on."""
    return SLIDING if c.flag("use_sliding_window") and c.maybe("sliding_window") else FULL


def windowed_after(c: Config, i: int) -> str:
    """Layers from ``max_window_layers`` on have the window, where it is switched on."""
    return (
        SLIDING
        if windowed_if_used(c, i) == SLIDING and i >= c.whole("max_window_layers", least=0)
        else FULL
    )


def windowed_after_unasked(c: Config, i: int) -> str:
    """Layers from ``max_window_layers`` on have the window, where there is one."""
    return (
        SLIDING
        if c.maybe("sliding_window") and i >= c.whole("max_window_layers", least=0)
        else FULL
    )


def full_every(name: str | int, first: bool = False) -> Rule:
    """The last (or ``first``) of every so many layers is full, the others have the window."""
    return lambda c, i: (
        SLIDING if (i + (not first)) % (name if isinstance(name, int) else c.whole(name)) else FULL
    )


def windowed_without_rope(c: Config, i: int) -> str:
    """Layers without rotation have the window, where it is switched on (SmolLM 3)."""
    rotated = c.wholes("no_rope_layers", c.n_layers)
    without = not rotated[i] if rotated else (i + 1) % c.whole("no_rope_layer_interval") == 0
    return SLIDING if without and windowed_if_used(c, i) == SLIDING else FULL


def full_every_where_windowed(name: str) -> Rule:
    """The same, where there is a window at all."""
    return lambda c, i: SLIDING if c.maybe("sliding_window") and (i + 1) % c.whole(name) else FULL


def linear_but_every(name: str) -> Rule:
    """The last of every so many layers has attention, the others a recurrence."""
    return lambda c, i: LINEAR if (i + 1) % c.whole(name) else FULL


def period(every: str, offset: str, there: str, else_: str) -> Rule:
    """Layers at an offset in a period are one thing, the others another (Jamba)."""

    def rule(c: Config, i: int) -> str:
        length, at = c.whole(every), c.whole(offset, least=0)
        if at >= length:
            c.fail(offset, f"{at} is not less than {every} {length}")
        return there if i % length == at else else_

    return rule


def indices(name: str, there: str, else_: str) -> Rule:
    """Layers whose numbers a list holds are one thing, the others another."""

    def rule(c: Config, i: int) -> str:
        return there if c.lists(name, i) else else_

    return rule


def pattern_of(name: str, there: str, else_: str, rule: Rule) -> Rule:
    """Ones and zeros in a list, or else a rule."""

    def read(c: Config, i: int) -> str:
        listed = c.wholes(name, c.n_layers) if isinstance(c.raw(name), list) else None
        return rule(c, i) if listed is None else there if listed[i] else else_

    return read


# ---------------------------------------------------------------------------------------- rules for the feed-forward


def sparse_from(name: str) -> Rule:
    """The first layers are dense, the others have experts."""
    return lambda c, i: DENSE if i < c.whole(name, least=0) else SPARSE


def sparse_by_step(count: str) -> Rule:
    """Every so many layers have experts, but for those listed as dense (Qwen)."""

    def rule(c: Config, i: int) -> str:
        sparse = (
            not c.lists("mlp_only_layers", i)
            and c.maybe(count, 0)
            and (i + 1) % c.whole("decoder_sparse_step") == 0
        )
        return SPARSE if sparse else DENSE

    return rule
