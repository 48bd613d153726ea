"""From requests and specs to bound cases: which value each input takes, and its source."""
