"""Calibration: efficiencies and overheads from measured latencies."""
