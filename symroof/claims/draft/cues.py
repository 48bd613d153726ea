r"""What the words around a number speak of: each cue with the ways prose puts it.

A cue is a thing (the cache, the weights), a phase, a share (per token, per device) or a role (a target, what is left over). Which
quantity a number is follows from its unit and its cues; :mod:`symroof.claims.draft.readings` has the weights.

>>> sorted({cue for cue, _, _ in cues("an all-reduce of the KV cache")})
['all_reduce', 'cache']
"""

import re
from collections.abc import Iterator

WORDS: dict[str, str] = {
    # things
    "weights": r"(?<!page )weights?(?![ -]only)|checkpoints?|model (?:itself|size|takes|needs|occupies|weighs|files?|memory|alone)|weighs|parameters? (?:alone )?(?:take|occup|need|are stored|fit)\w*|parameter memory|loaded model|safetensors",
    "precision": r"fp16|bf16|fp8|int8|int4|fp4|nvfp4|mxfp4|awq|gptq|q[48]_\w+|(?:4|8|16)[- ]bits?|half[- ]precision|bfloat16|float16|quanti[sz]\w+",
    "model": r"models?",
    "footprint": r"footprint",
    "params": r"params?|parameters?|model size",
    "active": r"active|activated?|activates|fire|routed to|used per token|per forward",
    "cache": r"kv|kvs|key[- ](?:and[- ])?value|keys and values|cach(?:e|es|ed)|session|conversation",
    "state": r"recurrent state|ssm state|mamba state|conv state|states? per (?:request|sequence)",
    "logits": r"logits?",
    "expert": r"(?:one|each|per|an|every|single)[ -](?:\w+ )?expert(?:['’]s)?",
    "layer": r"per layer|each layer|a layer|one layer|every layer|per-layer|layerwise",
    "attention": r"attention|score|softmax|attn|qk",
    "attention_work": r"(?:self-)?attention (?:\w+ )?(?:flops?|operations|compute|arithmetic|math|work)|(?:attention|score) matri(?:x|ces)|(?:qk|av) products?",
    "gemm": r"gemm|matmul|matrix (?:product|multipl\w+)|projection",
    # devices
    "bandwidth": r"bandwidth|hbm\d?e?|gddr\w*|lpddr\w*|memory speed|reads?|streams?|mem bw|bw|beta",
    "capacity": r"hbm\d?e?|vram|gddr\w*|ram|on-?board|capacity|memory (?:of|per|size|capacity)|whose memory|gpu memory|device memory|(?:gpus?|cards?|devices?|[ahlb]\d{1,3}s?|mi\d{3}x|rtx \d{4}) (?:has|have|with(?= \d))|comes? with|offers?|ships? with|[- ]class",
    "memory": r"memory|has|have|provides?",
    "device": r"gpus?|cards?|devices?|accelerators?|chips?|boards?|parts?",
    "peak": r"peak|tensor cores?|dense|sparse|compute|multipl\w+|tflops?|arithmetic|throughput|fp8|bf16|fp16|int8|fp4",
    "ridge": r"ridge|machine balance|balance(?: point)?|ops:byte|ops-to-byte|knee|crossover|critical intensity|roofline|break-?even intensity|turning point",
    "intensity": r"intensity|flops? per byte|operations per byte|ai",
    "link": r"nvlink|infinity fabric|xgmi|interconnect|link|one way|unidirectional|bidirectional|inter-gpu|gpu-to-gpu|scale-up|nvswitch|ici",
    "network": r"network|infiniband|ethernet|roce|rdma|between nodes|inter-node|nics?|cross-node",
    "host": r"pcie|pci-e|host|cpu memory|dram|offload\w*|swap\w*",
    "disk": r"nvme|ssds?|disks?|storage|load(?:s|ed|ing)?|file system|cold start",
    "l2": r"l2",
    "power_word": r"tdp|power|draws?|board power|consum\w+|watts?|energy|electric\w*|cap(?:ped)?",
    # phases
    "prefill": r"prefills?|prefilling|prompts?(?: processing)?|ingest\w*|process(?:es|ing)? the prompt|forward pass over|inputs?|isl|encoding the prompt|reading (?:the|a) prompt",
    "first_token": r"ttft|first[- ]tokens?|time[- ]to[- ]first(?:[- ]token)?|first word|starts? (?:to answer|answering|streaming)|initial latency",
    "decode": r"decod\w+|generat\w+|autoregressive|token[- ]by[- ]token|next token",
    "step": r"steps?|iterations?|itl|tpot|inter-?token|forward|passes|pass|per[- ]step",
    "between_tokens": r"itl|words? (?:appears?|comes?)|gap|inter-?token(?: latency| latencies)?|between (?:two |successive |consecutive )?tokens|token[- ]to[- ]token|per[- ]token latency|per output token|latency per token|(?:each|every|a|per|next|one) (?:output |new |generated )?token|decode latency|token latency",
    "tpot": r"tpot|time per output token",
    "response": r"responses?|end[- ]to[- ]end|e2e|whole (?:answer|reply|completion|request)|full (?:answer|reply|completion|request|response)|(?:entire|complete|finished?) (?:answer|reply|response|request)|answers?|repl(?:y|ies)|completions?|total latency|last token|request latency|round trip",
    "decoding_all": r"decoding|decode (?:time|phase|takes)|generation (?:time|phase|takes)|remaining tokens|rest of the (?:tokens|answer)|all (?:the )?(?:other )?tokens|output tokens take|generating",
    "reading": r"reads?|reading|streams?|streaming|mov(?:e|es|ed|ing)|traffic|touch(?:es)?|fetch\w*|transfer(?:s|red)?|pull(?:s|ed)?|through hbm|memory time|memory side|memory traffic|loads?",
    "computing": r"compute[- ](?:time|side|part|bound)|arithmetic|math|flops? (?:alone|take)|multiply|at (?:the )?(?:full|peak)|compute alone|compute takes",
    "load_word": r"load(?:s|ed|ing)?(?= (?:the |all |a )?(?:weights|checkpoint|model|from))|load time|cold[- ]start|startup|from (?:nvme|disk|ssd|storage)|checkpoint from|boot",
    "swap": r"swap\w*|offload\w*|evict\w*|restor\w*|bring\w* back|to the host|page (?:in|out)",
    "recompute": r"recomput\w*|re-?prefill\w*|comput\w+ (?:it )?(?:anew|again)",
    "transfer": r"(?:hand\w*|send\w*|ship\w*|transfer\w*|migrat\w*|mov\w*) (?:over )?(?:the |its |that |a )?(?:kv )?(?:cache|over)|cache transfer|kv transfer|disaggregat\w*",
    "all_reduce": r"all-?reduces?",
    "all_to_all": r"all-?to-?alls?",
    "all_gather": r"all-?gathers?",
    "communication": r"communicat\w*|collectives?|synchroni[sz]\w*|links? (?:take|cost|add)\w*",
    "queue": r"queue\w*|waits?|waiting|backlog",
    "overhead": r"overheads?|scheduling|scheduler|fixed cost|python|cpu time|bookkeeping|host side",
    "launch": r"kernel launch\w*|launch(?:es|ing)?|launch latency",
    "speculation": r"speculat\w*|draft model|drafts?|drafted|verif\w+",
    "verify": r"verif\w+",
    "sustained": r"sustain\w*|under load|at work|steady[- ]state|with prefills?|prefills? included|including prefills?|goodput|mixed|interleaved|loaded",
    "without_prefill": r"decode[- ](?:only|alone)|without(?: prefills?)?|decode cost|excluding prefill|full batch(?:es)?",
    "arriving": r"arriv\w*|incoming|traffic|demand|offered|peak (?:load|traffic)|users send|requests? come|qps|load|rps",
    # shares
    "per_token": r"per[- ](?:\w+ )?token|/ ?tok(?:en)?|(?:each|every|a|one|single) (?:[a-z]+ )?tokens?(?! (?:context|window|prompt|sequence|budget))|a token|token then takes|for (?:each|every) token|per position",
    "per_device": r"per[- ](?:gpu|card|device|accelerator|chip|rank|shard)|(?:on |for )?(?:each|every) (?:of (?:the |its |our )?(?:\w+ )?)?(?:gpus?|cards?|devices?|accelerators?|chips?|ranks?|one|h\d00s?|a100s?)|/ ?(?:gpu|device|card|chip)|a ?piece|on one of the|gpu each|per h\d00|per a100|shard(?:ed)?",
    "per_request": r"per[- ](?:request|sequence|user|session|conversation|sample|stream)|(?:each|every|one|a|single) (?:request|sequence|session|conversation)|each\b",
    "per_user": r"per[- ](?:user|stream|request|session|sequence|chat)|single[- ](?:user|stream|request|sequence)|(?:one|each|every|a) (?:user|stream|client|reader|person|customer)|interactiv\w*|user sees|/ ?user|tokens/s per user|batch (?:of |size )?(?:1|one)\b(?![.,]?\d)|bs ?= ?1\b|alone",
    "in_all": r"(?:vram|memory|ram) us(?:ed|age)|total|altogether|in all|in sum|sum|overall|all together|combined|everything|adds? up|adding|together|(?:memory|total|overall) footprint|needs? (?:about |roughly )?in|memory (?:use|usage|consumption|need|requirement)s?|required memory",
    "aggregate": r"aggregate|total|together|throughput|all users|whole batch|server|node|box|cards? together|system|cluster|replica|deliver\w*|emits?|pushes?|batch(?:ed|es|ing)?|concurrent|combined|instance|produces?",
    "fleet": r"fleet|cluster|all (?:the )?(?:replicas|nodes|copies)|datacenter|whole deployment|all \d+ gpus",
    "group": r"replica|instance|node|server|box|machine",
    "leaving": r"leav(?:e|es|ing)(?! \w+ \w+ behind)|left with|remain(?:s|ing)?:?",
    "free": r"left(?:over)?(?: over)?|remain\w*|free|headroom|spare|available|room|over for|to spare|rest|budget for",
    "reserved": r"reserv\w*|set(?:ting)? aside|runtime|cuda(?: context| graphs?)?|activations?(?: buffers?)?|framework|fragmentation|workspace|keep(?:s|ing)? back",
    "usable": r"usable|gpu[-_ ]memory[-_ ]utili[sz]ation|may use|allowed to use",
    # roles
    "target": r"targets?|slos?|slas?|requirements?|require[ds]?|must|should|goals?|limits?|budget|objectives?|deadline|at most|no more than|threshold|want|aim\w*|need(?:s)? to (?:stay|be)|acceptable|below|under|within",
    "window": r"window|context window|sliding",
    "sliding": r"sliding[- ]window|(?:local|sliding)[- ]attention(?: window)?|attention window|swa",
    "context": r"context|ctx|sequence|sequences|history|conversation|session|long|window|length|document",
    "output_word": r"outputs?|generated|responses?|answers?|completions?|repl(?:y|ies)|osl|new tokens|out\b|generat\w*|summary|writes?",
    "chunk_word": r"chunk\w*|per step|a step|token budget|max_num_batched_tokens|budget",
    "fits": r"fits?|fitting|hold|holds|at once|concurrent\w*|simultaneous\w*|in parallel|room for|top out|max(?:imum)?|capacity|serve|how many|sessions?|users?",
    "share_mfu": r"mfu|model flops utili[sz]ation|of (?:the )?peak(?: compute)?|compute (?:efficiency|utili[sz]ation)|flops utili[sz]ation|of peak flops",
    "share_mbu": r"mbu|bandwidth utili[sz]ation|of (?:the )?(?:peak |memory |hbm )?bandwidth|memory[- ]bandwidth (?:efficiency|utili[sz]ation)|model bandwidth|bandwidth efficiency",
    "achieved": r"achiev\w*|measur\w*|reach\w*|observ\w*|get(?:s|ting)?|actual",
    "memory_share": r"memory[- ]utili[sz]ation|utili[sz]ation of memory|of (?:the )?memory|memory (?:is )?(?:used|full|usage)|of (?:its |the )?(?:hbm|vram|capacity)",
    "accept": r"accept\w*",
    "prefix": r"prefix(?:es)?|shared (?:system )?prompt|system prompt|cached prompt",
    "hit": r"hit[- ]rate|(?:prefix )?cach(?:e|ing) (?:hits?|hit rate)|prefix hits?|hits the (?:prefix )?cache",
    # money
    "rent": r"rent\w*|hour(?:ly)?|per hour|an hour|/h|on[- ]demand|reserved|spot|instance price|list price|priced?",
    "per_million": r"(?:per|/|for|a) ?(?:1 ?)?(?:m(?:illion|tok)?|1m|mtok)(?: ?(?:output|generated|input|prompt))? ?(?:tokens?|tok)?\b|million(?: output| generated| input| prompt)? tokens?|mtok|per 1k tokens",
    "of_input": r"(?:input|prompt) tokens|of (?:input|prompt)|per million (?:input|prompt)|for input",
    "per_request_cost": r"(?:per|each|a|one) (?:request|response|answer|reply|conversation|completion|call|query)",
    # what it is beside inference
    "off_topic": r"train(?:ed|ing)?|fine-?tun\w*|pre-?train\w*|dataset|corpus|download\w*|upload\w*|install\w*|image|docker|container|logs?|logging|dashboard|refresh\w*|alerts?|"
    r"database|postgres|redis|lookup|build|tests?|ci|compile[sd]?|meeting|minutes? read|reading time|posted|updated|warranty|shipping|shipp?ed|lead times?|lease|landlord|coffee|lecture|slides?|"
    r"homework|talk|office|salary|salaries|annual|month(?:ly)?|year(?:ly)?|week(?:ly)?|backup|archive|object storage|retention|timeouts?|retry|retries|polling|cron|restart\w*|deploy\w*|browser|page weight|"
    r"web|ui|editor|plug-?in|evaluation set|accuracy|noise|fans?|loud|rack|driver|package|epochs?|gradient|optimizer|tokenizer file|pods?|employees|headcount|budget for travel|fps|video|repo(?:sitory)?|commit|"
    r"disk space|latency of the api gateway|gateway|load balancer|dns|tls|handshake|round[- ]trip to|ping",
}  # fmt: skip
ONLY_BEFORE = frozenset(["leaving"])
"""Cues that speak of a number only where they stand before it: what leaves 5 GB is not what is left."""
CUES = {cue: re.compile(rf"(?<![\w])(?:{words})(?!\w)", re.IGNORECASE) for cue, words in WORDS.items()}


def cues(text: str) -> Iterator[tuple[str, int, int]]:
    """Every cue in a text with the place of its words."""
    for cue, pattern in CUES.items():
        for match in pattern.finditer(text):
            yield cue, match.start(), match.end()
