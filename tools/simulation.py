"""A server step by step: requests arrive, wait, are read in pieces, and write a token in each step.

The judge of the quantities under load: it knows no formula of them, only the time of one step and of one prefill, which are
the engine's own. ``python -m tools.simulation`` holds 100 random deployments against their closed forms.
"""

import random
import sys
from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import symroof as sr


@dataclass
class Request:
    """Prompt tokens to read and decode steps to take; when it came, was begun, joined the batch, and how far it is."""

    prompt: int
    steps: int
    came: float = 0.0
    begun: float = 0.0
    joined: float = 0.0
    read: int = 0
    written: int = 0


@dataclass
class Tally:
    """What is counted once the server is warm: responses, the time between a request's tokens, from first piece to first token, waits."""

    seconds: float = 0.0
    written: int = 0
    responses: int = 0
    itls: list = field(default_factory=list)
    readings: list = field(default_factory=list)
    waits: list = field(default_factory=list)

    @property
    def throughput(self):
        """Tokens per second: those of decode steps, and the first of every response."""
        return self.written / self.seconds

    def mean(self, what):
        values = getattr(self, what)
        return sum(values) / len(values)


class Server:
    """One instance with ``batch`` slots. Subclasses say what a step is.

    Args:
        study: the deployment.
        arrivals: mean requests per second, at random; without a rate a request comes whenever a slot is free.
        sizes: draws ``(prompt, output)``; without it every request is the study's.
        grain: mean keys are taken in multiples of so many tokens: the fewer, the fewer step times are worked out.
    """

    def __init__(self, study, arrivals=None, sizes=None, seed=1, grain=0):
        case = self.case = study.first.case
        self.slots, self.cached = int(case.value("batch")), int(case.value("cached_prefix"))
        self.draw, self.arrivals, self.grain = random.Random(seed), arrivals, grain
        self.sizes = sizes or (lambda _: (int(case.value("prompt")), int(case.value("output"))))
        self.clock, self.next_arrival = 0.0, 0.0
        self.queue, self.decoding, self.tally = deque(), [], Tally()
        self.step_time, self.prefill_time = cache(self._step_time), cache(self._prefill_time)

    # ---------------------------------------------------------------------------------------------------- what steps cost

    def _step_time(self, batch, keys, piece=0, past=0, prompts=0, ends=0):
        """A step of so many decoding requests with ``keys`` in the mean, and pieces of prompts."""
        values = {"loaded_context": keys, "batch": batch, "prefill_chunk": piece, "chunk_start": past, "concurrent_chunks": prompts, "chunk_logit_rows": ends}
        return float(self.case.changed({name: Fraction(value) for name, value in values.items()}).value("loaded_time"))

    def _prefill_time(self, prompt):
        changed = self.case.changed({"prompt": Fraction(prompt)})
        return float(changed.value("prefill_time") + changed.value("prefill_overhead"))

    # ----------------------------------------------------------------------------------------------------------- the clock

    def run(self, turns=8, warm=4):
        """The tally of so many turns of every slot, after the first ones."""
        self.fill()
        finished = 0
        while finished < self.slots * warm:
            finished += self.step()
        self.tally, start = Tally(), self.clock
        while self.tally.responses < self.slots * turns:
            self.step()
        self.tally.seconds = self.clock - start
        return self.tally

    def fill(self):
        """A server under load: its requests are anywhere in their responses."""
        if self.arrivals is None:
            for i in range(self.slots):
                request = self.new()
                request.written = request.steps * i // self.slots
                self.decoding.append(request)

    def new(self):
        prompt, output = self.sizes(self.draw)
        return Request(prompt, output - 1, self.clock)

    def arrive(self, idle, room):
        """Requests that came since the last step; without a rate as many as there is ``room`` for. An ``idle`` server waits for one."""
        if self.arrivals is None:
            self.queue.extend(self.new() for _ in range(room))
            return
        if idle and not self.queue:
            self.clock = max(self.clock, self.next_arrival)
        while self.next_arrival <= self.clock:
            request = self.new()
            request.came = self.next_arrival
            self.queue.append(request)
            self.next_arrival += self.draw.expovariate(self.arrivals)

    def keys(self):
        """Keys that the decoding requests see in this step, in the mean."""
        if not self.decoding:
            return Fraction(1)
        mean = Fraction(sum(r.prompt + r.written + 1 for r in self.decoding), len(self.decoding))
        return Fraction(round(mean / self.grain) * self.grain) if self.grain else mean

    def write(self):
        """A token for every decoding request; how many of them are done."""
        self.tally.written += len(self.decoding)
        for request in self.decoding:
            request.written += 1
        done = [request for request in self.decoding if request.written >= request.steps]
        self.decoding = [request for request in self.decoding if request.written < request.steps]
        for request in done:
            self.tally.responses += 1
            if request.joined:
                self.tally.itls.append((self.clock - request.joined) / request.steps)
        return len(done)

    def first_token(self, request, seconds):
        """A prompt is read: the first token is there."""
        self.tally.written += 1
        self.tally.readings.append(seconds)
        self.tally.waits.append(request.begun - request.came)

    def join(self, request):
        request.joined = self.clock
        self.decoding.append(request)


class Chunked(Server):
    """Each step takes up to ``chunk`` tokens of prompts along, so early that a request is read when a slot is free for it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.reading, self.ready = None, deque()
        steps = self.new().steps
        self.ahead = -(-self.slots // steps)

    def step(self):
        budget = int(self.case.value("chunk"))
        self.arrive(not self.decoding and not self.ready and self.reading is None, self.ahead - len(self.queue))
        while self.ready and len(self.decoding) < self.slots:
            self.join(self.ready.popleft())
        pieces = []
        while budget > 0 and (self.reading or (self.queue and len(self.ready) + len(pieces) < self.ahead + self.slots - len(self.decoding))):
            if self.reading is None:
                self.reading = self.queue.popleft()
                self.reading.begun, self.reading.read = self.clock, self.cached
            request = self.reading
            piece = min(budget, request.prompt - request.read)
            pieces.append((request, piece, request.read))
            request.read += piece
            budget -= piece
            if request.read >= request.prompt:
                self.reading = None
        self.clock += self._cost(pieces)
        done = self.write()
        for request, _, _ in pieces:
            if request.read >= request.prompt:
                self.first_token(request, self.clock - request.begun)
                self.ready.append(request)
        return done

    def _cost(self, pieces):
        if not pieces:
            return self.step_time(len(self.decoding), self.keys())
        # pieces as so many equal ones that meet the same pairs and read the same cache
        count, tokens = len(pieces), sum(piece for _, piece, _ in pieces)
        past = Fraction(sum(before for _, _, before in pieces), count)
        ends = Fraction(sum(request.read >= request.prompt for request, _, _ in pieces), count)
        return self.step_time(len(self.decoding), self.keys(), Fraction(tokens, count), past, count, ends)


class Exclusive(Server):
    """A prefill stops the decode; ``prefill_batch`` requests are read together where so many wait."""

    def step(self):
        self.arrive(not self.decoding, self.slots - len(self.decoding) - len(self.queue))
        together = int(self.case.value("prefill_batch"))
        while self.queue and len(self.decoding) < self.slots:
            read = [self.queue.popleft() for _ in range(min(together, len(self.queue), self.slots - len(self.decoding)))]
            for request in read:
                request.begun = self.clock
            seconds = sum(self.prefill_time(request.prompt) for request in read) / together
            self.clock += seconds
            for request in read:
                self.first_token(request, seconds)
                self.join(request)
        self.clock += self.step_time(len(self.decoding), self.keys())
        return self.write()


class Disaggregated(Server):
    """Prompts are read elsewhere, ``prefill_devices`` over the instance's devices at a time, and queue there for their reader and here for a slot.

    Readers that several instances share read for this one in turn: each prompt of it takes as many times as long.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        readers = Fraction(self.case.value("prefill_devices") / self.case.value("instance_devices"))
        self.readers, self.sharing = [0.0] * readers.numerator, readers.denominator
        self.ready = deque()

    def step(self):
        self.arrive(not self.decoding and not self.ready, self.slots + len(self.readers) - len(self.ready))
        while self.queue:
            request = self.queue.popleft()
            reader = min(range(len(self.readers)), key=self.readers.__getitem__)
            request.begun = max(self.readers[reader], request.came)
            self.readers[reader] = request.begun + self.sharing * self.prefill_time(request.prompt)
            self.ready.append((self.readers[reader], request))
        if not self.decoding:
            self.clock = max(self.clock, self.ready[0][0])
        while self.ready and self.ready[0][0] <= self.clock and len(self.decoding) < self.slots:
            end, request = self.ready.popleft()
            self.first_token(request, end - request.begun)
            self.join(request)
        self.clock += self.step_time(len(self.decoding), self.keys())
        return self.write()


SERVERS = {"chunked": Chunked, "exclusive": Exclusive, "disaggregated": Disaggregated}
"""A server for each way of scheduling."""
MODELS = ("llama-3-8b", "llama-3.1-70b", "qwen2.5-7b", "mixtral-8x7b", "gemma-2-9b", "mistral-7b-v0.1", "qwen3-30b-a3b", "deepseek-v2-lite")
DEVICES = ("h100-sxm", "h200", "a100-80gb-sxm", "l40s", "mi300x")


def deployment(draw):
    """A random deployment; memory does not bound it."""
    scheduling = draw.choice(list(SERVERS))
    tp = draw.choice((1, 2, 4))
    case = {
        "model": draw.choice(MODELS), "hardware": draw.choice(DEVICES), "tp": tp, "batch": round(7 * 2 ** draw.uniform(0, 4.5)),
        "prompt": round(64 * 2 ** draw.uniform(0, 7)), "output": round(32 * 2 ** draw.uniform(0, 4)), "mfu": draw.choice((0.5, 0.8, 1)),
        "chunk": draw.choice((256, 512, 1024, 2048, 8192)), "step_overhead": "1 ms", "assume": {"scheduling": scheduling},
    }  # fmt: skip
    return {**case, "prefill_devices": tp * draw.choice((1, 2, 3))} if scheduling == "disaggregated" else case


def differences(case, seed=1):
    """How far closed forms are off what the simulation counts, as shares: throughput, mean ITL, TTFT without its wait.

    Where the budget fills every step, prompts come as fast as they are read: there is no steady state, and TTFT is left out.
    """
    study = sr.Study(**case)
    tally = SERVERS[case["assume"]["scheduling"]](study, seed=seed).run()
    closed = [study.exact(name) for name in ("sustained_throughput", "sustained_itl", "prompt_prefill_time")]
    if case["assume"]["scheduling"] == "disaggregated":  # the simulation hands nothing over
        closed[2] -= study.exact("transfer_time")
    counted = [tally.throughput, tally.mean("itls"), tally.mean("readings")]
    full = case["assume"]["scheduling"] == "chunked" and study.exact("even_chunk") >= study.exact("chunk")
    return [float(ours) / theirs - 1 for ours, theirs in zip(closed, counted, strict=True)][: 2 if full else 3]


WAITING = {
    "model": "llama-3.1-8b", "hardware": "h100-sxm", "batch": 32, "prompt": 1024, "output": 65, "mfu": 0.6, "mbu": 0.8, "step_overhead": "1 ms",
    "network_bandwidth": "50 GB/s",
}  # fmt: skip
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9)


def waits(scheduling, load, turns=120):
    """The mean wait for the first piece of a prompt at a share of what the server sustains, and the estimates of it by switch ``queue``, in seconds."""
    case = {**WAITING, **({"chunk": 512} if scheduling == "chunked" else {"prefill_devices": 1} if scheduling == "disaggregated" else {})}

    def study(queue="mm1", **more):
        return sr.Study(**case, **more, assume={"scheduling": scheduling, "queue": queue})

    rate = load * float(study().exact("sustained_requests"))
    tally = SERVERS[scheduling](study(), arrivals=rate, grain=16).run(turns, warm=20)
    at_rate = {queue: study(queue, arrival_rate=rate) for queue in ("mm1", "md1")}
    return tally.mean("waits"), {queue: _estimated_wait(made.first.case) for queue, made in at_rate.items()}


def _estimated_wait(case):
    """What ``loaded_ttft`` has beside the steps that the prompt is read in."""
    return float(case.value("loaded_ttft") - case.changed({"batch": case.value("steady_batch")}).value("prompt_prefill_time"))


SLOTS = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "batch": 16, "prompt": 512, "output": 200, "mfu": 0.6, "mbu": 0.8, "step_overhead": "1 ms"}
SLOT_LOADS = (0.7, 0.8, 0.9, 0.95)


def slot_waits(scheduling, load, turns=600):
    """The mean wait before the first piece of a prompt where slots are few and responses long, and the estimates of it with ``admission_wait`` by ``queue``."""

    def study(queue, **more):
        return sr.Study(**SLOTS, **({"chunk": 512} if scheduling == "chunked" else {}), **more, assume={"scheduling": scheduling, "queue": queue})

    rate = load * float(study("md1").exact("sustained_requests"))
    tally = SERVERS[scheduling](study("md1"), arrivals=rate, grain=64).run(turns, warm=30)
    at_rate = {queue: study(queue, arrival_rate=rate) for queue in ("mm1", "md1")}
    return tally.mean("waits"), {queue: _estimated_wait(made.first.case) + float(made.exact("admission_wait")) for queue, made in at_rate.items()}


def main(count=100, seed=7):
    draw, within = random.Random(seed), 0
    for i in range(count):
        case = deployment(draw)
        off = differences(case)
        good = all(abs(share) <= 0.01 for share in off)
        within += good
        print(f"{i:3} {'' if good else '*':1} " + " ".join(f"{share:+8.3%}" for share in off), case, flush=True)
    print(f"{within} of {count} within 1 %")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
