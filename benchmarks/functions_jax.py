"""The same functions in JAX's words, compiled by `jit`."""

from __future__ import annotations

from benchmarks import arrays
from benchmarks.arrays import RATE


def trivial(jax, xla=False):
    x = jax.numpy.asarray(arrays.chain([16])[0])
    f = jax.jit(lambda x: x + 1.0)
    return lambda: f(x).block_until_ready()


def mlp_function(jax, widths, batch, xla=False):
    from benchmarks.workloads_jax import _dense

    x, labels = (jax.numpy.asarray(v) for v in arrays.classes(batch, widths[0]))

    def loss_of(parameters, x, labels):
        log_p = jax.nn.log_softmax(_dense(jax, parameters, x))
        return -jax.numpy.take_along_axis(log_p, labels[:, None], axis=1).mean()

    def update(parameters, x, labels):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, labels)
        return [p - RATE * g for p, g in zip(parameters, gradients, strict=True)], loss

    run = jax.jit(update, donate_argnums=0)
    state = [[jax.numpy.asarray(v) for v in arrays.layers(widths)]]

    def step():
        state[0], loss = run(state[0], x, labels)
        return loss.block_until_ready()

    return step


def scalars(jax, count, xla=True):
    turn = [0]

    def step():
        turn[0] += 1
        shift = 0.5 + turn[0] * 1e-6

        def chain(x):
            for _ in range(count // 2):
                x = x * 0.999 + shift
            return x

        return jax.jit(chain)(jax.numpy.float32(0.5)).block_until_ready()

    return step


def _scan(jax, x, w, u):
    def cell(h, row):
        return jax.numpy.tanh(row @ w + h @ u), None

    h, _ = jax.lax.scan(cell, jax.numpy.zeros(x.shape[1:]), x)
    return (h**2).sum()


def recurrent(jax, steps, xla=True, form="while"):
    x, w, u = (jax.numpy.asarray(v) for v in arrays.recurrent(steps))
    run = jax.jit(jax.grad(lambda p, x: _scan(jax, x, *p)))

    def step():
        result = run((w, u), x)
        return jax.block_until_ready(result)[0]

    return step


def plain_recurrent(jax, steps):
    return recurrent(jax, steps)


def collatz(jax, turns):
    lax = jax.lax

    def body(_, n):
        n = lax.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1)
        return lax.cond(n == 1, lambda: jax.numpy.asarray(837799, n.dtype), lambda: n)

    with jax.enable_x64(True):
        run = jax.jit(lambda n, turns: lax.fori_loop(0, turns, body, n))
        n, count = jax.numpy.asarray(837799, "int64"), jax.numpy.asarray(turns)

        def step():
            with jax.enable_x64(True):
                return run(n, count).block_until_ready()

        step()
    return step
