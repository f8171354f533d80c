"""The table of codes: every reason that Wengert can give, with its title.

The hundreds tell the kind: 1 gradients that are `None`, 2 functions traced again, 3 Python frozen
in a trace, 4 leaks and misuse, 5 NaN and infinity, 6 results that differ between engines, 7 work
shaped badly for a compiler, 8 names that Wengert does not have. Each has a page (`pages`).
"""

from __future__ import annotations

CODES = {
    "WG101": "no gradient: the source was never watched",
    "WG102": "no gradient: the source was watched after it was used",
    "WG103": "no gradient: the variable is not trainable",
    "WG104": "no gradient: this tape does not watch variables by itself",
    "WG105": "no gradient: computed after the tape had closed",
    "WG106": "no gradient: computed before the tape was opened",
    "WG107": "no gradient: computed under stop_recording",
    "WG108": "no gradient: the tape was reset afterwards",
    "WG109": "no gradient: recorded on another tape",
    "WG110": "no gradient: computed in another thread or task",
    "WG111": "no gradient: computed by a task that outlived the tape",
    "WG112": "no gradient: integers and booleans have none",
    "WG113": "no gradient: the value left the tensors",
    "WG114": "no gradient: assigned to a variable on the way",
    "WG115": "no gradient: stop_gradient cut the path",
    "WG116": "no gradient: an operation without one",
    "WG117": "no gradient: a custom gradient answered None",
    "WG118": "no gradient: a branch or loop was not taken",
    "WG120": "no gradient: the target does not depend on the source",
    "WG201": "traced again: the shape of an argument varies",
    "WG202": "traced again: the dtype of an argument varies",
    "WG203": "traced again: a Python value varies",
    "WG204": "traced again: the structure of an argument varies",
    "WG205": "traced again: the function is made anew each time",
    "WG206": "traced again: another object each time",
    "WG207": "more traces than `max_traces` allows",
    "WG401": "a tape was asked twice",
    "WG402": "a tape was asked that never recorded",
    "WG403": "a tape is still recording in another thread",
    "WG404": "a tape was opened while it was recording",
    "WG411": "a persistent tape keeps memory alive",
    "WG501": "logarithm of zero or of a negative number",
    "WG502": "division by zero",
    "WG503": "overflow",
    "WG504": "a function was asked outside its domain",
    "WG505": "0 times infinity from the side of `where` that was not chosen",
    "WG506": "out of the range of half precision",
    "WG507": "an infinite derivative",
    "WG508": "an undefined result",
    "WG509": "not finite from the beginning",
    "WG801": "a name that Wengert does not have",
}
