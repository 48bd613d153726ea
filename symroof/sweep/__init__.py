"""Grids: any inputs over any ranges, any quantities, in memory or in files larger than it."""
