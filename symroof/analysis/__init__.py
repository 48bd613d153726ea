"""Analyses of a bound case: solving, deriving, sensitivities, what flips a verdict."""
