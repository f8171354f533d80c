"""The commands: `wengert run`, `alias`, `doctor`, `explain` and `api`."""
