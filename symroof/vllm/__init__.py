"""``vllm serve`` commands: parsed, explained in symroof's terms, and recommended. They are never executed."""
