"""The literature behind the formulas: the ``reference`` of each quantity and threshold.

A reference is where a reader can check the formula: authors, year, title, and the arXiv number, journal or document.
A formula that follows from the meaning of the names alone, such as a ratio, a sum or a unit price, is a :data:`DEFINITION`.
"""

DEFINITION = "definition"
"""The formula is the meaning itself, written over other quantities: there is nothing to look up."""

# Hardware and rooflines
ROOFLINE = "Williams, Waterman, Patterson 2009, Roofline: An Insightful Visual Performance Model for Multicore Architectures, CACM 52(4)"
HIERARCHICAL_ROOFLINE = "Yang, Kurth, Williams 2020, Hierarchical Roofline Analysis for GPUs, Concurrency and Computation 32(20), doi 10.1002/cpe.5547"
SCALING_BOOK = "Austin et al. 2025, How to Scale Your Model, chapters 1 (rooflines) and 7 (inference), jax-ml.github.io/scaling-book"
CUDA_GUIDE = "NVIDIA 2024, CUDA C++ Programming Guide, Compute Capabilities: 32 banks of shared memory, 32 bits a clock each"
GEMM_GUIDE = "NVIDIA 2023, Matrix Multiplication Background User's Guide, DU-09799-001, chapter 2"
CUDA_GRAPHS = "Gray 2019, Getting Started with CUDA Graphs, NVIDIA Technical Blog"

# Counting the work of a transformer
KAPLAN = "Kaplan et al. 2020, Scaling Laws for Neural Language Models, arXiv 2001.08361, section 2.1"
PALM = "Chowdhery et al. 2022, PaLM: Scaling Language Modeling with Pathways, arXiv 2204.02311, appendix B"
POPE = "Pope et al. 2022, Efficiently Scaling Transformer Inference, arXiv 2211.05102"
GQA = "Ainslie et al. 2023, GQA: Training Generalized Multi-Query Transformer Models, arXiv 2305.13245"
FLASH = "Dao et al. 2022, FlashAttention, arXiv 2205.14135"
MLA = "DeepSeek-AI 2024, DeepSeek-V2, arXiv 2405.04434, section 2.1"
MAMBA = "Gu, Dao 2023, Mamba: Linear-Time Sequence Modeling with Selective State Spaces, arXiv 2312.00752"
SPARSE_EXPERTS = "Shazeer et al. 2017, Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer, arXiv 1701.06538"
MOESD = "Huang et al. 2025, MoESD: Unveil Speculative Decoding's Potential for Accelerating Sparse MoE, arXiv 2505.19645"
QLORA = "Dettmers et al. 2023, QLoRA: Efficient Finetuning of Quantized LLMs, arXiv 2305.14314, section 3: constants of a block spread over its weights"

# Metrics
METRICS = "NVIDIA 2024, NIM LLMs Benchmarking Guide, Metrics, docs.nvidia.com/nim/benchmarking/llm"
MBU = "Databricks 2023, LLM Inference Performance Engineering: Best Practices, Databricks engineering blog"

# Serving
PAGED_ATTENTION = "Kwon et al. 2023, Efficient Memory Management for Large Language Model Serving with PagedAttention, arXiv 2309.06180"
ORCA = "Yu et al. 2022, Orca: A Distributed Serving System for Transformer-Based Generative Models, OSDI 2022"
SARATHI = "Agrawal et al. 2023, SARATHI: Efficient LLM Inference by Piggybacking Decodes with Chunked Prefills, arXiv 2308.16369"
DISTSERVE = "Zhong et al. 2024, DistServe: Disaggregating Prefill and Decoding for Goodput-optimized LLM Serving, arXiv 2401.09670"
SPLITWISE = "Patel et al. 2023, Splitwise: Efficient Generative LLM Inference Using Phase Splitting, arXiv 2311.18677"
LEVIATHAN = "Leviathan, Kalman, Matias 2023, Fast Inference from Transformers via Speculative Decoding, arXiv 2211.17192"
MEDUSA = "Cai et al. 2024, Medusa: Simple LLM Inference Acceleration Framework with Multiple Decoding Heads, arXiv 2401.10774"

# Devices that work together
RING = "Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1)"
MEGATRON = "Shoeybi et al. 2019, Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism, arXiv 1909.08053, section 3"
GSHARD = "Lepikhin et al. 2020, GShard: Scaling Giant Models with Conditional Computation and Automatic Sharding, arXiv 2006.16668"
GPIPE = "Huang et al. 2018, GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism, arXiv 1811.06965"

# Queues
LITTLE = "Little 1961, A Proof for the Queuing Formula: L = lambda W, Operations Research 9(3)"
KLEINROCK = "Kleinrock 1975, Queueing Systems, volume I: Theory, chapters 2 (Poisson arrivals), 3 (M/M/1) and 5 (M/G/1)"
SAKASEGAWA = "Sakasegawa 1977, An approximation formula L_q = α·ρ^β/(1 - ρ), Annals of the Institute of Statistical Mathematics 29"
NEWELL = "Newell 1982, Applications of Queueing Theory, 2nd edition, chapter 2: deterministic fluid approximation"
