"""`python -m benchmarks.gpt`: one training step of a 110-million-parameter GPT, on a GPU.

The same mathematics in Wengert (tape and function), JAX and PyTorch: 12 layers of width 768, 16
sequences of 512, float32 weights, bfloat16 matrix products, plain SGD. Best of several rounds that
go round the frameworks; `--small` shrinks everything to try it on a CPU.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

RATE = 1e-3


class Size:
    """How large the network is."""

    def __init__(self, small: bool) -> None:
        self.layers, self.width, self.heads = (2, 64, 4) if small else (12, 768, 12)
        self.vocabulary, self.batch, self.length = (256, 2, 32) if small else (32768, 16, 512)


def start(size: Size) -> dict[str, np.ndarray]:
    """The weights that everybody starts from, by name."""
    r = np.random.default_rng(1964)
    n = size.width

    def normal(*shape: int) -> np.ndarray:
        return (0.02 * r.standard_normal(shape)).astype(np.float32)

    table = {"words": normal(size.vocabulary, n), "places": normal(size.length, n)}
    for k in range(size.layers):
        table |= {
            f"{k}.norm1": np.ones(n, np.float32), f"{k}.norm2": np.ones(n, np.float32),
            f"{k}.qkv": normal(n, 3 * n), f"{k}.out": normal(n, n),
            f"{k}.up": normal(n, 4 * n), f"{k}.down": normal(4 * n, n),
        }  # fmt: skip
    return table | {"norm": np.ones(n, np.float32)}


def tokens(size: Size) -> np.ndarray:
    r = np.random.default_rng(1)
    return r.integers(0, size.vocabulary, (size.batch, size.length + 1)).astype(np.int32)


def wengert_step(size: Size, fused: bool):
    import wengert as tf

    p = {k: tf.Variable(v, name=k) for k, v in start(size).items()}
    variables = list(p.values())
    text = tf.constant(tokens(size))
    half = tf.bfloat16
    b, t, n, h = size.batch, size.length, size.width, size.heads

    def norm(x, scale):
        mean = tf.reduce_mean(x, -1, keepdims=True)
        centred = x - mean
        spread = tf.reduce_mean(tf.square(centred), -1, keepdims=True)
        return centred * tf.math.rsqrt(spread + 1e-5) * scale

    def product(x, w):
        return tf.matmul(tf.cast(x, half), tf.cast(w, half))

    def attention(x, k):
        qkv = tf.reshape(product(x, p[f"{k}.qkv"]), (b, t, 3, h, n // h))
        q, key, v = (tf.transpose(qkv[:, :, i], (0, 2, 1, 3)) for i in range(3))
        if fused:
            y = tf.nn.scaled_dot_product_attention(q, key, v, is_causal=True)
        else:
            scores = tf.cast(tf.matmul(q, key, transpose_b=True), tf.float32) * (n // h) ** -0.5
            keep = tf.linalg.band_part(tf.ones((t, t), tf.bool), -1, 0)
            weights = tf.nn.softmax(tf.where(keep, scores, -1e9))
            y = tf.matmul(tf.cast(weights, half), v)
        y = tf.reshape(tf.transpose(y, (0, 2, 1, 3)), (b, t, n))
        return tf.cast(product(y, p[f"{k}.out"]), tf.float32)

    def forward(text):
        x = tf.gather(p["words"], text[:, :-1]) + p["places"]
        for k in range(size.layers):
            x = x + attention(norm(x, p[f"{k}.norm1"]), k)
            up = tf.nn.gelu(product(norm(x, p[f"{k}.norm2"]), p[f"{k}.up"]), approximate=True)
            x = x + tf.cast(product(up, p[f"{k}.down"]), tf.float32)
        logits = tf.matmul(
            tf.cast(norm(x, p["norm"]), half), tf.cast(p["words"], half), transpose_b=True
        )
        logits = tf.cast(logits, tf.float32)
        picked = tf.gather(logits, text[:, 1:], batch_dims=2, axis=2)
        return tf.reduce_mean(tf.reduce_logsumexp(logits, -1) - picked)

    @tf.function(jit_compile=True)
    def step(text):
        with tf.GradientTape() as tape:
            loss = forward(text)
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(RATE * tf.convert_to_tensor(g))
        return loss

    return lambda: float(step(text))


def jax_step(size: Size, fused: bool):
    import jax
    from jax import numpy as jnp

    text = jnp.asarray(tokens(size))
    half = jnp.bfloat16
    b, t, n, h = size.batch, size.length, size.width, size.heads

    def norm(x, scale):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale

    def product(x, w):
        return x.astype(half) @ w.astype(half)

    def attention(p, x, k):
        qkv = product(x, p[f"{k}.qkv"]).reshape(b, t, 3, h, n // h)
        q, key, v = (qkv[:, :, i] for i in range(3))
        if fused:
            y = jax.nn.dot_product_attention(q, key, v, is_causal=True, implementation="cudnn")
        else:
            q, key, v = (x.transpose(0, 2, 1, 3) for x in (q, key, v))
            scores = (q @ key.swapaxes(-1, -2)).astype(jnp.float32) * (n // h) ** -0.5
            weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e9))
            y = (weights.astype(half) @ v).transpose(0, 2, 1, 3)
        return product(y.reshape(b, t, n), p[f"{k}.out"]).astype(jnp.float32)

    def loss_of(p, text):
        x = p["words"][text[:, :-1]] + p["places"]
        for k in range(size.layers):
            x = x + attention(p, norm(x, p[f"{k}.norm1"]), k)
            up = jax.nn.gelu(product(norm(x, p[f"{k}.norm2"]), p[f"{k}.up"]), approximate=True)
            x = x + product(up, p[f"{k}.down"]).astype(jnp.float32)
        logits = (norm(x, p["norm"]).astype(half) @ p["words"].astype(half).T).astype(jnp.float32)
        picked = jnp.take_along_axis(logits, text[:, 1:, None], -1)[..., 0]
        return (jax.nn.logsumexp(logits, -1) - picked).mean()

    def update(p, text):
        loss, g = jax.value_and_grad(loss_of)(p, text)
        return {k: v - RATE * g[k] for k, v in p.items()}, loss

    run = jax.jit(update, donate_argnums=0)
    state = [{k: jnp.asarray(v) for k, v in start(size).items()}]

    def step():
        state[0], loss = run(state[0], text)
        return float(loss)

    return step


def torch_step(size: Size, fused: bool):
    import torch
    from torch.nn import functional as f

    where = "cuda" if torch.cuda.is_available() else "cpu"
    p = {k: torch.tensor(v, device=where, requires_grad=True) for k, v in start(size).items()}
    text = torch.tensor(tokens(size).astype(np.int64), device=where)
    half = torch.bfloat16
    b, t, n, h = size.batch, size.length, size.width, size.heads

    def norm(x, scale):
        return f.layer_norm(x, (n,), scale)

    def loss_of(text):
        x = p["words"][text[:, :-1]] + p["places"]
        for k in range(size.layers):
            qkv = (norm(x, p[f"{k}.norm1"]).to(half) @ p[f"{k}.qkv"].to(half)).view(
                b, t, 3, h, n // h
            )
            q, key, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
            y = f.scaled_dot_product_attention(q, key, v, is_causal=True)
            y = y.transpose(1, 2).reshape(b, t, n) @ p[f"{k}.out"].to(half)
            x = x + y.float()
            up = f.gelu(
                norm(x, p[f"{k}.norm2"]).to(half) @ p[f"{k}.up"].to(half), approximate="tanh"
            )
            x = x + (up @ p[f"{k}.down"].to(half)).float()
        logits = (norm(x, p["norm"]).to(half) @ p["words"].to(half).T).float()
        return f.cross_entropy(logits.view(-1, size.vocabulary), text[:, 1:].reshape(-1))

    compiled = torch.compile(loss_of)

    def step():
        loss = compiled(text)
        loss.backward()
        with torch.no_grad():
            torch._foreach_add_(list(p.values()), [v.grad for v in p.values()], alpha=-RATE)
        for v in p.values():
            v.grad = None
        return float(loss)

    return step


MAKERS = {
    "Wengert, plain attention": (wengert_step, False),
    "JAX, plain attention": (jax_step, False),
    "Wengert, fused attention": (wengert_step, True),
    "JAX, cuDNN attention": (jax_step, True),
    "PyTorch, torch.compile": (torch_step, True),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpt", description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tiny network, to try it on a CPU")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10, help="steps of a round")
    parser.add_argument("--skip", action="append", default=[], help="leave out what starts so")
    options = parser.parse_args()
    size = Size(options.small)
    steps = {}
    for name, (make, fused) in MAKERS.items():
        if name.startswith(tuple(options.skip)):
            continue
        try:
            begun = time.perf_counter()
            step = make(size, fused)
            losses = [step() for _ in range(4)]
            spent = time.perf_counter() - begun
            print(f"{name}: losses {losses[0]:.4f} … {losses[-1]:.4f}; ready in {spent:.1f} s")
            steps[name] = step
        except Exception as error:  # a peer that is not here, or cannot do this here
            print(f"{name}: {type(error).__name__}: {str(error)[:1500]}")
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(options.rounds):
        for name, step in steps.items():
            begun = time.perf_counter()
            for _ in range(options.steps):
                step()
            best[name] = min(best[name], (time.perf_counter() - begun) / options.steps)
    for name, seconds in best.items():
        print(f"{name:30} {seconds * 1e3:8.2f} ms")


if __name__ == "__main__":
    main()
