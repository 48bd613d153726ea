"""vllm serve lines."""
