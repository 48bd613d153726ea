"""The shipped theory of a training run against figures that its sources print, and against loops and simulations of our own."""

import math

import pytest

import symroof as sr

CLUSTER = {
    "accelerators": 1024,
    "accelerator_flops": 312e12,
    "device_mtbf": "50000 hour",
    "write_bandwidth": 100e9,
}


def training(**chosen):
    return sr.Study(theory="training-step", **chosen)


# ------------------------------------------------------------------------------------------------------------ work: 6 N D


@pytest.mark.parametrize(
    ("parameters", "tokens", "printed", "close"),
    [
        # Chinchilla: trained with Gopher's budget of 5.76e23 FLOPs (Hoffmann et al. 2022, section 1)
        (70e9, 1.4e12, 5.76e23, 0.03),
        # GPT-3 175B, total train compute (Brown et al. 2020, table D.1)
        (175e9, 300e9, 3.14e23, 0.01),
        (13e9, 300e9, 2.31e22, 0.02),  # GPT-3 13B, the same table (12.85e9 parameters)
        (405e9, 15.6e12, 3.8e25, 0.01),  # Llama 3 405B (Grattafiori et al. 2024, section 3.2.1)
    ],
)
def test_the_work_of_published_runs(parameters, tokens, printed, close):
    assert float(
        training(model_parameters=parameters, training_tokens=tokens).value("training_flops")
    ) == pytest.approx(printed, rel=close)


def test_device_hours_by_hand():
    """6 * 1e9 * 1e12 FLOP at half of 1e15 FLOP/s are 1.2e7 s of one device, 3333.3 hours, however many share them."""
    run = {
        "model_parameters": 1e9,
        "training_tokens": 1e12,
        "accelerator_flops": 1e15,
        "model_flops_share": 0.5,
    }
    for devices in (1, 8):
        study = training(**run, accelerators=devices)
        assert float(study.value("training_time")) == pytest.approx(1.2e7 / devices)
        assert study.result("device_hours").text() == "3,333 hours"


# ------------------------------------------------------------------------------------------------------------ memory: ZeRO


@pytest.mark.parametrize(
    ("quantity", "printed"),
    [
        ("model_state_bytes", 120),
        ("optimizer_sharded_bytes", 31.4),
        ("gradients_sharded_bytes", 16.6),
        ("weights_sharded_bytes", 1.9),
    ],
)
def test_the_bars_of_zeros_first_figure(quantity, printed):
    """7.5 billion parameters on 64 devices, K = 12 (Rajbhandari et al. 2020, figure 1), as printed to a tenth of a GB."""
    assert (
        round(float(training(model_parameters=7.5e9, accelerators=64).value(quantity)) / 1e9, 1)
        == printed
    )


def test_gpt_2_takes_24_gb():
    """1.5 billion parameters at 16 bytes each (Rajbhandari et al. 2020, section 3.1)."""
    assert training(model_parameters=1.5e9).value("model_state_bytes") == 24 * 10**9


def test_least_devices_by_counting_up():
    devices = next(n for n in range(1, 1000) if 16 * 70e9 / n <= 80e9)
    assert training(model_parameters=70e9, accelerator_memory=80e9).solve(
        "accelerators_to_fit"
    ).integer == {"at_least": devices}


# ------------------------------------------------------------------------------------------------------------ checkpoints


def test_young_and_daly_by_hand():
    """A checkpoint of 12*70e9 bytes at 100 GB/s takes 8.4 s; 1,024 devices of 50,000 hours each fail every 175,781.25 s."""
    study = training(model_parameters=70e9, **CLUSTER)
    write, failure = 8.4, 175_781.25
    assert float(study.value("checkpoint_time")) == pytest.approx(write)
    assert float(study.value("mean_time_to_failure")) == failure
    assert float(study.value("young_interval")) == pytest.approx(math.sqrt(2 * write * failure))
    ratio = write / (2 * failure)
    assert float(study.value("daly_interval")) == pytest.approx(
        math.sqrt(2 * write * failure) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - write
    )


def expected_wall_time(interval, write, failure):
    """Time for a second of work where failures are exponential (Daly 2006, equation 20, without restarts): an independent optimum."""
    return failure * (math.exp((interval + write) / failure) - 1) / interval


@pytest.mark.parametrize("hours", [500, 5_000, 50_000])
def test_dalys_interval_is_where_the_exact_cost_is_least(hours):
    study = training(
        model_parameters=70e9,
        **{**CLUSTER, "device_mtbf": f"{hours} hour", "write_bandwidth": 10e9},
    )
    write, failure = (
        float(study.value(name)) for name in ("checkpoint_time", "mean_time_to_failure")
    )
    daly, young = (float(study.value(name)) for name in ("daly_interval", "young_interval"))
    best = min(
        (young * step / 10_000 for step in range(2_000, 15_000)),
        key=lambda at: expected_wall_time(at, write, failure),
    )
    assert daly == pytest.approx(best, rel=0.002)
    assert abs(daly - best) < abs(young - best)


def test_youngs_interval_loses_least_to_first_order():
    study = training(model_parameters=70e9, restart_time=0, **CLUSTER)
    write, failure, young = (
        float(study.value(name))
        for name in ("checkpoint_time", "mean_time_to_failure", "young_interval")
    )

    def lost(interval):
        return write / interval + interval / 2 / failure

    assert float(study.value("lost_share")) == pytest.approx(lost(young))
    assert all(lost(young) <= lost(young * factor) for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2))


def test_the_bandwidth_for_a_twentieth_by_hand():
    """The loss at Young's interval is sqrt(2*write/failure), so the write may take 0.05**2*failure/2."""
    study = training(
        model_parameters=70e9,
        **{name: value for name, value in CLUSTER.items() if name != "write_bandwidth"},
    )
    assert float(study.solve("bandwidth_for_five_percent").value) == pytest.approx(
        12 * 70e9 / (0.05**2 * 175_781.25 / 2)
    )
