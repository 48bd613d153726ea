"""Slips: what each changes, how likely each explanation is."""
