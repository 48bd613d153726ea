"""The theory of LLM inference: inputs, blocks, steps, switches, quantities, thresholds.

Pure: no files, no number of any device. Reading order: ``symbols``, ``switches``, ``architecture``, ``blocks``,
``steps``, ``quantities``, ``thresholds``, and ``theory``, which puts them together.
"""
