"""A server step by step: requests arrive, wait, are prefilled and decoded, each step at the time that the theory gives it."""
