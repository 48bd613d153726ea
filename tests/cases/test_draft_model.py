"""A draft model of its own, against times and bytes counted by hand for both models."""

from dataclasses import dataclass

import pytest

import symroof as sr

F, BETA, M, LINK = 989.4e12, 3.35e12, 81559 * 2**20, 450e9


@dataclass(frozen=True)
class Model:
    """Dimensions of a dense model with gated layers, from its config.json."""

    layers: int
    d: int
    heads: int
    kv_heads: int
    head: int
    ff: int
    vocab: int
    params: int

    @property
    def matrices(self):
        return (
            self.layers
            * (
                2 * self.d * self.heads * self.head
                + 2 * self.d * self.kv_heads * self.head
                + 3 * self.d * self.ff
            )
            + self.d * self.vocab
        )

    @property
    def cache(self):
        """Bytes of one token's cache."""
        return 2 * 2 * self.layers * self.kv_heads * self.head

    def step(self, batch, context, tp=1, mfu=1.0, mbu=1.0):
        """Seconds of a decode step. Each device reads the whole input of what is cut by columns, and writes the whole output of what is cut by rows."""
        flops = (
            2 * batch * self.matrices + 4 * self.layers * self.heads * self.head * context * batch
        )
        wide, narrow = self.heads * self.head, self.kv_heads * self.head
        cut = (
            self.layers * ((wide + 2 * narrow) + 2 * wide + wide + 2 * self.ff + self.ff)
            + self.vocab
        )
        whole = self.layers * 4 * self.d + self.d
        moved = (2 * self.matrices + self.cache * context * batch) / tp + 2 * batch * (
            cut / tp + whole
        )
        roof = max(flops / (tp * mfu * F), moved / (mbu * BETA))
        return roof + (
            2 * self.layers * 2 * (tp - 1) / tp * batch * self.d * 2 / LINK if tp > 1 else 0
        )


LARGE = Model(32, 4096, 32, 8, 128, 14336, 128256, 8030261248)
SMALL = Model(16, 2048, 32, 8, 64, 8192, 128256, 1235814400)
CASE = {
    "engine": "ideal",
    "model": "llama-3.1-8b",
    "draft": "llama-3.2-1b",
    "hardware": "h100-sxm",
    "prompt": 2000,
    "output": 100,
    "draft_tokens": 4,
    "acceptance": 0.8,
}


def study(**chosen):
    return sr.Study(**(CASE | chosen))


@pytest.mark.parametrize(("batch", "tp", "mbu"), [(1, 1, 1.0), (16, 1, 0.8), (64, 2, 0.7)])
def test_a_drafted_token_costs_the_draft_models_own_step(batch, tp, mbu):
    by_hand = SMALL.step(batch, 2000, tp, 0.5, mbu) / LARGE.step(batch, 2000, tp, 0.5, mbu)
    assert float(study(batch=batch, tp=tp, mfu=0.5, mbu=mbu).value("draft_cost")) == pytest.approx(
        by_hand, rel=1e-9
    )


def test_memory_counts_the_drafts_weights_and_caches():
    by_hand = 2 * (LARGE.params + SMALL.params) + 8 * 2099 * (LARGE.cache + SMALL.cache)
    made = study(batch=8)
    assert float(made.value("memory_bytes")) == by_hand
    assert float(study(batch=8, memory_reserve="2 GB").value("memory_bytes")) == by_hand + 2e9
    source = made.first.inputs()["memory_reserve"].source
    assert "draft llama-3.2-1b: its weights and cache" in source


def test_the_largest_batch_shares_memory_with_the_draft():
    by_hand = int((M - 2 * (LARGE.params + SMALL.params)) // (2099 * (LARGE.cache + SMALL.cache)))
    assert study().solve("max_batch_memory").integer == {"at_most": by_hand}
    assert int(study().value("concurrency")) == int(study(batch=7).value("concurrency")) == by_hand
    assert (
        by_hand
        < sr.Study(**{k: v for k, v in CASE.items() if k != "draft"})
        .solve("max_batch_memory")
        .integer["at_most"]
    )


def test_a_model_that_drafts_for_itself_costs_a_whole_step():
    alone = study(draft="llama-3.1-8b", batch=8)
    assert float(alone.value("draft_cost")) == 1
    assert float(alone.value("memory_bytes")) == 2 * (2 * LARGE.params + 8 * 2099 * LARGE.cache)


def test_the_speed_up_by_hand():
    """Leviathan: (1 - a^5)/(1 - a) tokens a verification, over one verification and four drafted tokens."""
    made = study(batch=1)
    tokens = (1 - 0.8**5) / (1 - 0.8)
    spent = float(made.value("verify_time")) + 4 * SMALL.step(1, 2000)
    assert float(made.value("speculative_itl")) == pytest.approx(spent / tokens, rel=1e-9)


def test_a_threshold_over_the_batch_moves_the_draft_along():
    work = {"prompt": 64, "acceptance": 0.6}
    batch = study(**work).solve("max_batch_speculation").integer["at_most"]
    speed = [float(study(batch=n, **work).value("speculation_speedup")) for n in (batch, batch + 1)]
    assert speed[0] >= 1 > speed[1]


def test_a_cost_that_is_set_wins_with_a_warning():
    made = study(draft_cost=0.5)
    assert float(made.value("draft_cost")) == 0.5
    assert any("draft_cost is given" in warning for warning in made.first.warnings)


def test_a_range_of_the_reserve_is_refused():
    with pytest.raises(sr.InputError, match="memory_reserve"):
        study(memory_reserve="1 GB..2 GB").value("fits")


# ------------------------------------------------------------------------------------------------- files and line


def test_a_head_of_the_model_is_one_more_layer_that_shares_the_vocabulary():
    """MTP and EAGLE: Llama 3.1 70B has layers of 855,654,400 parameters, so a head in fp16 adds 1.711 GB and a norm."""
    alone = sr.Study("llama-3.1-70b", "h200", tp=4, prompt=1024, output=1, kv="fp16")
    drafted = sr.Study(
        "llama-3.1-70b",
        "h200",
        tp=4,
        prompt=1024,
        output=1,
        kv="fp16",
        draft="mtp",
        draft_tokens=3,
        acceptance=0.7,
    )
    layer = 2 * 855_654_400 + 2 * 8192
    cache = 4096 * 1024  # one layer: keys and values of 8 heads of 128 in two bytes
    more = drafted.value("memory_bytes") - alone.value("memory_bytes")
    assert more == pytest.approx(layer + 2 * 8192 + cache, rel=1e-3)
    assert 1 / 81 < drafted.value("draft_cost") < 3 / 81


def test_drafts_without_a_draft_are_said_to_be_free():
    study = sr.Study(
        "llama-3.1-8b", "h100-sxm", prompt=1024, output=8, draft_tokens=3, acceptance=0.7
    )
    assert any("as if drafting cost nothing" in word for word in study.first.warnings)


@pytest.mark.parametrize(("acceptance", "said"), [(0.7, True), ("0.6..0.8", False)])
def test_an_acceptance_without_a_range_is_said_to_count_as_exact(acceptance, said):
    given = {"prompt": 1024, "output": 8, "draft_tokens": 3, "draft_cost": 0.1}
    study = sr.Study("llama-3.1-8b", "h100-sxm", acceptance=acceptance, **given)
    assert any("counts as exact" in word for word in study.first.warnings) == said
