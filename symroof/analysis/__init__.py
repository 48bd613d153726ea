"""Analyses of a bound case: solving, deriving, sensitivities, tipping points."""
