"""Signals at every bytecode offset of the library, and the state of the process after each.

    python -m tools.interrupts --resume STATE
    python -m tools.interrupts --scenarios host,xla --kinds sigint --points 500 --seed 3
    python -m tools.interrupts --at core/variable.py:Variable.assign:310:48 --scenarios host

Run it at the root of the repository. `scenarios.py` has what is interrupted: a trace, an eager
gradient, cached steps of both engines, checkpoints. `points.py` records the offsets that a scenario
passes, and lets a signal arrive at one of them: it is pending when the instruction begins, so its
handler runs where CPython looks next, as with a signal from outside. Kinds: `sigint`, with Python's
own handler, which the library defers; `alarm`, SIGUSR1 with a handler that raises an exception of
its own, as programs do that limit the time of a step.

`checking.py` says what must hold afterwards: the exception came out; the context, the settings of
the process and the handlers of signals are as before; no lock is held (another thread takes a step,
reads and assigns); variables and files have the old state or the new one; the next step, the same
step in another thread, and a fresh build give the right numbers.

One place cannot be made safe: the start of an `__exit__` that is written in Python (a tape's, NumPy's
`errstate`), which a handler may keep from running. Such points are counted as `at exit`.

`worker.py` does this in a process of its own, which a watchdog ends when it hangs. `--resume` keeps
a file of what was tried; a run that is stopped goes on where it was. Coverage is printed at the end.
"""
