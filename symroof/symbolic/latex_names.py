"""Which LaTeX may be the spelling of a name: nothing else that LaTeX could do."""

import re

GREEK = (
    "alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|varkappa|lambda|mu|nu|xi|pi|varpi|rho"
    "|varrho|sigma|varsigma|tau|upsilon|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega|ell"
)
LETTER = rf"(?:\\mathrm\{{(?:[A-Za-z0-9,/ ]|\\_)+\}}|\\(?:{GREEK})(?![A-Za-z])|[A-Za-z0-9,/])"
SCRIPT = rf"(?:{LETTER}|\{{(?:\s*{LETTER}(?:_{LETTER})?)+\s*\}})"
SPELLED = re.compile(
    rf"(?:\s*{LETTER}(?:_{SCRIPT}(?:\^{SCRIPT})?|\^{SCRIPT}(?:_{SCRIPT})?)?)+\s*", re.ASCII
)
"""How a name is spelled: letters, digits and Greek, each with a script below and one above."""
LONGEST = 64


def is_spelling(spelled: str) -> bool:
    r"""Whether LaTeX is how a name may be spelled, and nothing else that LaTeX could do.

    >>> [is_spelling(latex) for latex in (r"t_{\mathrm{prefill}}", r"\beta_l", r"\input{x}", "x_a_b", "{")]
    [True, True, False, False, False]
    """
    return len(spelled) <= LONGEST and SPELLED.fullmatch(spelled) is not None
