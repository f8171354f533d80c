"""`import wengert` is light: what only some programs need is loaded when they need it."""

from __future__ import annotations

import subprocess
import sys


def modules_after(code: str) -> set[str]:
    """The top-level modules loaded after `code` in a fresh interpreter."""
    report = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "importing must not warn"
    return set(done.stdout.split())


def test_import_is_light():
    # A coverage tool or a path file may load modules of its own before ours.
    loaded = modules_after("import wengert") - modules_after("pass")
    assert "wengert" in loaded
    assert loaded.isdisjoint({"jax", "jaxlib", "scipy", "keras", "rich", "tensorflow", "torch"})


def test_an_eager_gradient_is_light_too():
    code = """
import wengert as tf
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(x * x)
assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]
"""
    assert modules_after(code).isdisjoint({"jax", "jaxlib", "keras", "rich"})


def test_every_module_imports():
    # Those of Keras's face need Keras; the stand-in replaces `tensorflow` in a process of its own.
    code = """
import importlib, pkgutil, wengert
for module in pkgutil.walk_packages(wengert.__path__, "wengert."):
    if not module.name.startswith(("wengert.keras", "wengert.__main__", "wengert.cli.stand_in")):
        importlib.import_module(module.name)
"""
    assert modules_after(code).isdisjoint({"jax", "keras"})
