"""The commands: `wengert run`, `doctor`, `explain` and `api`."""
