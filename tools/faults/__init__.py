"""Processes that are killed while they save, disks that are full, forks during steps.

    python -m tools.faults kills
    python -m tools.faults disk --saves manager,dataset
    python -m tools.faults forks --count 200 --seed 1

Run it at the root of the repository, on a system that forks. `saves.py` has every kind of save:
how a version is written and which version is found. `kills` saves in a child that is killed before
the k-th operation on its folder, for each k (`--count`: at so many random moments besides); `disk`
limits the size of files, for each of some sizes. Then the old version or the new one is there, the
next save works, and nothing temporary is left; an error of a full disk names the file. `forks` lets
another thread take steps; children must end or raise, and never hang.
"""
