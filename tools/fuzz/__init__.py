"""Random programs, run in several modes, whose answers must agree.

    python -m tools.fuzz --seed 0 --programs 20000 --modes eager,host,open --resume STATE
    python -m tools.fuzz --programs 2000 --modes eager,xla
    python -m tools.fuzz --programs 3000 --modes eager,host --tensorflow /path/to/python

Run it at the root of the repository. A program is source text (`generator.py`, `expressions.py`,
`constructs.py`, `flow.py`) that calls the rows of the case table (`tests/cases`) and mixes them
with control flow, lists, variables, tapes and nested functions. `running.py` runs the text in a
mode and records values, dtypes, shapes, gradients to order two, variables and errors; `comparing.py`
says where two records differ; `minimise.py` cuts the text down while the difference stays, and
prints a script. `worker.py` runs the same text under TensorFlow in another interpreter.

Modes: `eager`; `host`, the host engine, tapes inside the function; `around`, tapes around the
call; `open`, the host engine without known sizes, called with arguments of two sizes; `auto`,
the engine Wengert chooses, second call; `xla` and `xla_open`, compiled; `replicas`, two
replicas of a strategy with the same arguments. The first is the standard.

`--only` and `--rows` make programs of some constructs and rows alone. Which mended faults the fuzzer
finds when they are put back stands in `README.md` beside this file.

A program is determined by its seed. `--resume` keeps a JSON file of what ran, so that a run that is
stopped goes on where it was; coverage is printed at the end.
"""
