"""The live page: interactive inputs, evaluated by JavaScript generated from the formulas."""
