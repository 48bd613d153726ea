"""The theory of LLM inference: inputs, blocks, steps, switches, quantities, thresholds; no numbers of devices or models.

Reading order: ``symbols``, ``switches``, ``architecture``, ``rows`` (with ``blocks.yaml``), ``steps``, ``quantities``, ``thresholds``, and
``theory``, which puts them together.
"""
