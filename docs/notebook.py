# %% [markdown]
# # When does decode stop being free?
#
# An 8B model on an H100 answers prompts of 4,096 tokens. A decode step reads every weight once, whatever the batch, so the
# first requests that join it cost almost nothing. How many can join before they do? We take the formulas as SymPy, ask for
# the crossing, check it against numbers, and draw it.

# %%
import sympy

import symroof as sr
from symroof.symbols import batch, itl, kv_cache_bytes, prompt, weight_bytes

study = sr.Study("llama-3-8b", "h100-sxm", prompt=4096, output=256, batch=8)
study

# %% [markdown]
# A quantity is a SymPy expression in symbols that everybody shares. As it is declared, and with numbers put in:

# %%
study.sympy("decode_memory_time", depth=1)

# %%
exact = study.sympy("itl").xreplace(study.values())
float(exact), float(study.exact("itl"))

# %% [markdown]
# Where does the number come from? The formula, and the steps with numbers:

# %%
study.derive("itl")

# %% [markdown]
# ## The threshold, in symbols and in numbers
#
# Where the cache of the batch weighs as much as the weights, each further request costs as much as it brings:

# %%
crossing = sr.solve(sympy.Eq(kv_cache_bytes, weight_bytes), for_=batch)
crossing.sympy

# %%
here = study.solve(sympy.Eq(kv_cache_bytes, weight_bytes), for_=batch)
here

# %% [markdown]
# It falls with the prompt. SymPy says how fast, because the symbols are the same objects:

# %%
slope = sympy.diff(crossing.sympy.xreplace(crossing.where), prompt)
slope

# %% [markdown]
# ## A formula of one's own
#
# The price of latency: seconds of a step that a request has to itself.

# %%
study.define(
    "step_share",
    itl / batch,
    unit="s/request",
    means="time of a decode step for each request in it",
)
study.value("step_share")

# %% [markdown]
# ## Over a grid, as xarray, and as a picture

# %%
grid = study.sweep(["itl", "step_share"], batch=[1, 8, 32, 64, 128], prompt=[1024, 4096])
grid.step_share.sel(prompt=4096).values * 1e3

# %%
picture = study.plot("latency-throughput")
picture

# %% [markdown]
# ## The verdict
#
# With an ITL target of 20 ms, prefills of other requests included:

# %%
served = sr.Study(
    "llama-3-8b", "h100-sxm", prompt=4096, output=256, chunk=2048, targets={"itl": "20 ms"}
)
int(served.value("best_batch")), served.value("max_goodput")

# %%
sr.select(served, among={"hardware": ["h100-sxm", "h200", "l40s"]})

# %% [markdown]
# The first page of the review for the team; `review.save("reports/chat")` writes it, with its pictures, as HTML and Markdown.

# %%
review = sr.Study(
    "llama-3-8b", "h100-sxm", prompt=4096, output=256, batch=16, targets={"itl": "20 ms"}
).report()
review
