"""Side-by-side benchmarks of Wengert and its peers; `python -m benchmarks --help`."""
