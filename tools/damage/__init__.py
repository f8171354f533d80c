"""Damaged files: every format is read again after its bytes were cut, changed, moved or added to.

    python -m tools.damage --seed 0 --cases 2000
    python -m tools.damage --formats tfrecord,png --cases 500 --seconds 60

Run it at the root of the repository. `formats.py` says how a sound file of each format is made and
read; `damages.py` makes the damaged ones, which a seed determines; `checking.py` reads each and
judges: an error must be Wengert's own, of the right kind, and name the file; where a format has
checksums, what is read without an error must be what was written. A read that takes longer than
`--limit` seconds, or more memory than `--memory` MiB beyond what the sound file took, is a finding.
"""
