"""Traced functions in TensorFlow's words; `tf` is Wengert or TensorFlow itself."""

from __future__ import annotations

from benchmarks import arrays


def trivial(tf, xla=False):
    x = tf.constant(arrays.chain([16])[0])
    f = tf.function(lambda x: x + 1.0, jit_compile=xla or None)
    return lambda: f(x)


def mlp_function(tf, widths, batch, xla=False):
    from benchmarks.workloads_tf import mlp

    return tf.function(mlp(tf, widths, batch), jit_compile=xla or None)


def first_call(tf, widths, batch):
    """Making, tracing and running a step for the first time; variables are made before."""
    from benchmarks.workloads_tf import mlp

    step = mlp(tf, widths, batch)
    return lambda: tf.function(lambda: step())()


def batch_sizes(tf, count, traced):
    """Many batch sizes through one function with an open batch, or through plain Python."""
    w = [tf.constant(v) for v in arrays.layers([64, 64, 64, 10])]
    batches = [tf.constant(arrays.normal(arrays.rng(), n + 1, 64)) for n in range(count)]

    def forward(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.nn.relu(tf.matmul(x, w[0]) + w[1])
            h = tf.nn.relu(tf.matmul(h, w[2]) + w[3])
            loss = tf.reduce_mean(tf.square(tf.matmul(h, w[4]) + w[5]))
        return tape.gradient(loss, x)

    def step():
        f = forward
        if traced:
            f = tf.function(forward, input_signature=[tf.TensorSpec([None, 64], tf.float32)])
        for x in batches:
            g = f(x)
        return g

    return step


def scalars(tf, count, xla=True):
    """Tracing and compiling a chain of scalar operations, each time anew."""
    x = tf.constant(0.5)
    turn = [0]

    def step():
        turn[0] += 1
        shift = 0.5 + turn[0] * 1e-6  # another graph each time, so that no cache answers

        def chain(x):
            for _ in range(count // 2):
                x = x * 0.999 + shift
            return x

        return tf.function(chain, jit_compile=xla or None, autograph=False)(x)

    return step


def tracing(tf, count):
    """Tracing alone."""
    x = tf.constant(0.5)

    def chain(x):
        for _ in range(count // 2):
            x = x * 0.999 + 0.5
        return x

    def step():
        f = tf.function(chain, autograph=False)
        f.get_concrete_function(x)
        return x

    return step


def _cell(tf, x, h, w, u):
    return tf.tanh(tf.matmul(x, w) + tf.matmul(h, u))


def recurrent(tf, steps, xla=True, form="while"):
    """The gradient of a recurrent network by its weights."""
    x, w, u = (tf.constant(v) for v in arrays.recurrent(steps))

    def loop(x, w, u):
        h = tf.zeros([x.shape[1], x.shape[2]])
        if form == "scan":
            return tf.scan(lambda h, row: _cell(tf, row, h, w, u), x, h)[-1]
        n = tf.shape(x)[0]
        _, h = tf.while_loop(
            lambda i, h: i < n, lambda i, h: (i + 1, _cell(tf, x[i], h, w, u)), [0, h]
        )
        return h

    # TensorFlow's XLA refuses the gradient of such a loop.
    @tf.function(jit_compile=(xla and tf.__name__ == "wengert") or None)
    def gradient(x, w, u):
        with tf.GradientTape() as tape:
            tape.watch([w, u])
            loss = tf.reduce_sum(tf.square(loop(x, w, u)))
        return tape.gradient(loss, [w, u])

    return lambda: gradient(x, w, u)[0]


def until(tf, known):
    """The gradient of a loop whose number of turns is known, or depends on a tensor."""
    start, w = (tf.constant(v) for v in arrays.recurrent(1)[:2])
    limit = tf.constant(1000.0)

    @tf.function(jit_compile=True)
    def gradient(x, w, limit):
        with tf.GradientTape() as tape:
            tape.watch(w)
            _, _, h = tf.while_loop(
                (lambda i, t, h: i < 100) if known else (lambda i, t, h: t < limit),
                lambda i, t, h: (i + 1, t + 10.0, tf.tanh(tf.matmul(h, w))),
                [0, 0.0, x],
            )
            loss = tf.reduce_sum(tf.square(h))
        return tape.gradient(loss, w)

    return lambda: gradient(start[0], w, limit)


def convert(tf, lines):
    """Converting the control flow of a function for the first time."""
    source = ["def long(x, n):", "    y = x"]
    for k in range(lines // 4):
        source += [f"    if n > {k}:", f"        y = y + {k}.0", "    else:", "        y = y - 1.0"]
    text = "\n".join([*source, "    return y", ""])
    turn = [0]

    def step():
        import linecache

        turn[0] += 1
        name = f"<benchmark {turn[0]}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        space = {}
        exec(compile(text, name, "exec"), space)
        tf.autograph.to_graph(space["long"])
        return 0.0

    return step


def converted(tf, autograph):
    """Tracing a function whose conditions are Python values, converted or not."""
    x = tf.constant(1.0)

    def body(x, n):
        y = x
        for k in range(n):
            if k % 2 == 0:
                y = y + 1.0
            elif k % 3 == 0:
                y = y * 2.0
            else:
                y = y - x
        return y

    def step():
        tf.function(body, autograph=autograph).get_concrete_function(x, 100)
        return 0.0

    step()
    return step


def collatz(tf, turns):
    """A loop of whole numbers with a branch in it, in plain Python."""

    @tf.function(jit_compile=True)
    def run(n, turns):
        for _ in tf.range(turns):
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            if n == 1:
                n = tf.constant(837799, tf.int64)
        return n

    n = tf.constant(837799, tf.int64)
    count = tf.constant(turns)
    return lambda: run(n, count)


def plain_recurrent(tf, steps):
    """A recurrent loop in plain Python over a sequence of any length, and its gradient."""
    _, w, u = (tf.constant(v) for v in arrays.recurrent(1))

    def forward(x, w, u):
        h = tf.zeros([32, 64])
        for i in tf.range(tf.shape(x)[0]):
            h = _cell(tf, x[i], h, w, u)
        return h

    @tf.function(
        jit_compile=True,
        input_signature=[
            tf.TensorSpec([None, 32, 64]), tf.TensorSpec([64, 64]), tf.TensorSpec([64, 64]),
        ],
    )  # fmt: skip
    def gradient(x, w, u):
        with tf.GradientTape() as tape:
            tape.watch([w, u])
            loss = tf.reduce_sum(tf.square(forward(x, w, u)))
        return tape.gradient(loss, [w, u])

    x = tf.constant(arrays.recurrent(steps)[0])
    return lambda: gradient(x, w, u)[0]
