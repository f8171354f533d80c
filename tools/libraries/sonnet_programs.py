"""Programs after the documentation of Sonnet (dm-sonnet), with weights that are set by formula."""

import os
import tempfile

import numpy as np
import sonnet as snt
import tensorflow as tf
from programs import near

X = tf.constant(np.cos(np.arange(24, dtype=np.float32)).reshape(8, 3))
IMAGES = tf.constant(np.sin(np.arange(2 * 8 * 8 * 3, dtype=np.float32)).reshape(2, 8, 8, 3))
STEPS = tf.constant(np.sin(np.arange(5 * 4 * 3, dtype=np.float32)).reshape(5, 4, 3))
VOLUME = tf.constant(np.sin(np.arange(2 * 4**3 * 2, dtype=np.float32)).reshape(2, 4, 4, 4, 2))


def _filled(module):
    for k, v in enumerate(module.trainable_variables):
        v.assign(np.cos(0.7 * np.arange(v.shape.num_elements()) + k).reshape(v.shape) * 0.4)
    return module


def _called(module, *args, **kwargs):
    module(*args, **kwargs)
    return _filled(module)(*args, **kwargs)


def linear():
    m = snt.Linear(4, name="here")
    y = _called(m, X)
    return [
        y,
        [v.name for v in m.variables],
        m.w.shape.as_list(),
        m.output_size,
        _called(snt.Linear(2, with_bias=False), X),
        _called(snt.Bias(), X),
        _called(snt.AddBias() if hasattr(snt, "AddBias") else snt.Bias(), X),
    ]


def mlp():
    m = snt.nets.MLP([5, 2], activation=tf.tanh)
    y = _called(m, X)
    return [y, [v.name for v in m.trainable_variables], len(m.submodules)]


def mlp_with_dropout():
    m = snt.nets.MLP([50, 2], dropout_rate=0.3)
    return [m(X, is_training=True).shape.as_list(), _called(m, X, is_training=False)]


def own_module():
    class My(snt.Module):
        def __init__(self, size, name=None):
            super().__init__(name=name)
            self.hidden = snt.Linear(size, name="hidden")
            self.logits = snt.Linear(2, name="logits")

        @snt.once
        def _initialize(self, x):
            self.scale = tf.Variable(tf.ones([x.shape[1]]), name="scale")

        def __call__(self, x):
            self._initialize(x)
            return self.logits(tf.nn.relu(self.hidden(x * self.scale)))

    m = My(4, name="my")
    return [
        _called(m, X),
        [v.name for v in m.variables],
        [s.name for s in m.submodules],
        repr(m.hidden).split("(")[0],
    ]


def sequential():
    m = snt.Sequential([snt.Linear(4), tf.nn.relu, snt.Flatten(), snt.Linear(2)])
    return [_called(m, X), len(m.trainable_variables)]


def convolutions():
    return [
        _called(snt.Conv2D(4, 3), IMAGES), _called(snt.Conv2D(2, 3, stride=2, padding="VALID"), IMAGES), _called(snt.Conv2D(2, 3, rate=2), IMAGES), _called(snt.Conv1D(2, 3), STEPS), _called(snt.Conv3D(2, 2), VOLUME),
    ]  # fmt: skip


def transposed_and_depthwise():
    return [
        _called(snt.Conv2DTranspose(2, 3, stride=2), IMAGES),
        _called(snt.DepthwiseConv2D(3, channel_multiplier=2), IMAGES),
        _called(snt.Conv1DTranspose(2, 3), STEPS),
        _called(snt.Conv3DTranspose(2, 2), VOLUME),
    ]


def causal_padding():
    return [
        _called(snt.Conv1D(2, 3, padding=snt.pad.causal), STEPS),
        snt.pad.same(3, 1),
        snt.pad.valid(3, 1),
        snt.pad.full(3, 2),
    ]


def batch_norm():
    m = snt.BatchNorm(True, True, decay_rate=0.9)
    a = m(IMAGES, is_training=True)
    b = m(IMAGES, is_training=True, test_local_stats=True)
    c = m(IMAGES, is_training=False)
    n = snt.distribute.CrossReplicaBatchNorm if False else None
    return [a, b, c, [v.name for v in m.variables], n]


def other_norms():
    return [
        snt.LayerNorm(-1, True, True)(IMAGES),
        snt.InstanceNorm(True, True)(IMAGES),
        snt.GroupNorm(3, True, True)(IMAGES),
        snt.BaseBatchNorm(False, False)(IMAGES, is_training=True),
    ]


def functions():
    m = snt.nets.MLP([4, 1])
    m(X)
    _filled(m)

    @tf.function
    def f(x):
        return m(x)

    @tf.function(jit_compile=True)
    def g(x):
        return m(x)

    return [f(X), g(X)]


def lstm():
    m = snt.LSTM(4)
    state = m.initial_state(4)
    m(STEPS[0], state)
    _filled(m)
    y, new = m(STEPS[0], state)
    return [y, new.hidden, new.cell, [v.name for v in m.variables], type(new).__name__]


def unrolls():
    out = []
    for m in (snt.LSTM(3), snt.GRU(3), snt.VanillaRNN(3)):
        m(STEPS[0], m.initial_state(4))
        _filled(m)
        a, s = snt.static_unroll(m, STEPS, m.initial_state(4))
        b, t = snt.dynamic_unroll(m, STEPS, m.initial_state(4))
        c, _ = snt.dynamic_unroll(
            m, STEPS, m.initial_state(4), sequence_length=tf.constant([5, 3, 1, 2])
        )
        out += [a, b, c, tf.nest.flatten(s), tf.nest.flatten(t)]
    return out


def unrolled_lstm():
    m = snt.UnrolledLSTM(3)
    m(STEPS, m.initial_state(4))
    _filled(m)
    y, s = m(STEPS, m.initial_state(4))
    return [y, s.hidden, s.cell]


def deep_recurrent():
    m = snt.DeepRNN([snt.Linear(3), tf.tanh, snt.LSTM(3), snt.GRU(2)])
    m(STEPS[0], m.initial_state(4))
    _filled(m)
    y, s = m(STEPS[0], m.initial_state(4))
    k = snt.deep_rnn_with_skip_connections([snt.LSTM(3), snt.LSTM(2)])
    k(STEPS[0], k.initial_state(4))
    _filled(k)
    return [y, tf.nest.flatten(s), k(STEPS[0], k.initial_state(4))[0]]


def convolutional_lstm():
    m = snt.Conv2DLSTM([8, 8, 3], 2, 3)
    m(IMAGES, m.initial_state(2))
    _filled(m)
    return m(IMAGES, m.initial_state(2))[0]


def trainable_state():
    s = snt.TrainableState(tf.zeros([3]))
    return [s(batch_size=2), len(s.trainable_variables)]


def embed():
    m = snt.Embed(6, 3, densify_gradients=False)
    ids = tf.constant([[0, 2], [5, 5]])
    m(ids)
    _filled(m)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(m(ids) ** 2)
    g = tape.gradient(y, m.embeddings)
    return [
        m(ids),
        tf.convert_to_tensor(g),
        snt.Embed(existing_vocab=np.eye(3, dtype=np.float32))(tf.constant([1])),
    ]


def optimizers():
    out = []
    for o in (
        snt.optimizers.SGD(0.1),
        snt.optimizers.Momentum(0.1, 0.9),
        snt.optimizers.Momentum(0.1, 0.9, use_nesterov=True),
        snt.optimizers.Adam(0.1),
        snt.optimizers.RMSProp(0.1),
        snt.optimizers.RMSProp(0.1, centered=True, momentum=0.9),
    ):
        v = tf.Variable([1.0, -2.0])
        for _ in range(4):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v**4)
            o.apply(tape.gradient(loss, [v]), [v])
        out.append(v)
    return out


def sparse_updates():
    out = []
    for o in (
        snt.optimizers.SGD(0.1),
        snt.optimizers.Adam(0.1),
        snt.optimizers.RMSProp(0.1),
        snt.optimizers.Momentum(0.1, 0.9),
    ):
        v = tf.Variable(np.ones((4, 2), np.float32))
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.gather(v, [0, 2, 2]) ** 2)
            o.apply(tape.gradient(loss, [v]), [v])
        out.append(v)
    return out


def training_loop():
    m, o = snt.nets.MLP([4, 1]), snt.optimizers.Adam(0.05)
    m(X)
    _filled(m)
    y = tf.reduce_sum(X, 1, keepdims=True)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((m(X) - y) ** 2)
        o.apply(tape.gradient(loss, m.trainable_variables), m.trainable_variables)
        return loss

    return [step() for _ in range(5)]


def classifier_on_a_dataset():
    m, o = (
        snt.Sequential([snt.Conv2D(2, 3), tf.nn.relu, snt.Flatten(), snt.Linear(3)]),
        snt.optimizers.SGD(0.05),
    )
    data = tf.data.Dataset.from_tensor_slices(
        (np.tile(IMAGES, [4, 1, 1, 1]), np.arange(8) % 3)
    ).batch(4)
    m(IMAGES)
    _filled(m)
    out = []
    for x, y in data.repeat(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=m(x))
            )
        o.apply(tape.gradient(loss, m.trainable_variables), m.trainable_variables)
        out.append(loss)
    return out


def checkpoints():
    m, n = snt.nets.MLP([4, 1]), snt.nets.MLP([4, 1])
    m(X), n(X)
    _filled(m)
    with tempfile.TemporaryDirectory() as d:
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(module=m), d, max_to_keep=2)
        path = manager.save()
        tf.train.Checkpoint(module=n).restore(path).assert_consumed()
        late = snt.nets.MLP([4, 1])
        tf.train.Checkpoint(module=late).restore(path)
        return [n(X), late(X), os.path.basename(path)]


def resnet():
    m = snt.nets.ResNet([1, 1, 1, 1], num_classes=4)
    y = m(tf.zeros([1, 32, 32, 3]), is_training=True)
    return [
        y.shape.as_list(),
        sum(v.shape.num_elements() for v in m.trainable_variables),
        len(m.variables),
    ]


def cifar10_convnet():
    m = snt.nets.Cifar10ConvNet()
    out = m(tf.zeros([1, 32, 32, 3]), is_training=True)
    return [sorted(out), out["logits"].shape.as_list(), len(m.trainable_variables)]


def vector_quantizer():
    m = snt.nets.VectorQuantizer(3, 4, 0.25)
    m(X, is_training=False)
    m.embeddings.assign(np.cos(np.arange(12.0)).reshape(3, 4))
    r = m(X, is_training=True)
    e = snt.nets.VectorQuantizerEMA(3, 4, 0.25, 0.9)
    e.embeddings.assign(np.cos(np.arange(12.0)).reshape(3, 4))
    q = e(X, is_training=True)
    return [
        r["quantize"],
        r["loss"],
        r["encoding_indices"],
        r["perplexity"],
        q["quantize"],
        q["loss"],
        e.embeddings,
    ]


def moving_averages():
    m, k = snt.ExponentialMovingAverage(0.9), snt.Mean() if hasattr(snt, "Mean") else None
    values = [m(tf.constant(v)) for v in (1.0, 3.0, 5.0)]
    return [values, m.value, k is None]


def metrics():
    a, b = snt.Mean(), snt.Sum()
    for v in (1.0, 4.0):
        a(tf.constant([v, v])), b(tf.constant([v, v]))
    first = [a.value, b.value]
    a.reset()
    return [first, a(tf.constant([2.0, 3.0]))]


def initializers():
    i = snt.initializers
    out = [
        i.Zeros()([2, 2], tf.float32),
        i.Ones()([2], tf.float32),
        i.Constant(3.0)([2], tf.float32),
        i.Identity()([2, 2], tf.float32),
    ]
    for one in (
        i.RandomNormal(0.0, 0.5),
        i.TruncatedNormal(0.0, 0.5),
        i.RandomUniform(-1, 1),
        i.VarianceScaling(1.0),
    ):
        out.append(near(tf.math.reduce_std(one([100, 100], tf.float32)), 0.05))
    q = i.Orthogonal()([4, 4], tf.float32)
    return [*out, near(tf.matmul(q, q, transpose_a=True), 1e-4)]


def regularizers():
    v = [tf.constant(1.5), tf.constant([0.5, -2.0])]
    return [
        snt.regularizers.L1(0.1)(v),
        snt.regularizers.L2(0.1)(v),
        snt.regularizers.OffDiagonalOrthogonal(0.1)([tf.constant(X[:3])]),
    ]


def reshapes():
    f = snt.Flatten()
    return [
        f(IMAGES).shape.as_list(),
        snt.Reshape([3, -1])(IMAGES).shape.as_list(),
        snt.reshape(IMAGES, [12, 16]).shape.as_list(),
        snt.Flatten(preserve_dims=2)(IMAGES).shape.as_list(),
        snt.Reshape([8, 24]).reversed(None) if False else 0,
    ]


def batch_apply():
    m = snt.Linear(2)
    b = snt.BatchApply(m)
    b(STEPS)
    _filled(m)
    return [
        b(STEPS),
        snt.merge_leading_dims(STEPS, 2),
        snt.split_leading_dim(tf.range(6), tf.zeros([2, 3]), 2),
    ]


def dropout():
    d = snt.Dropout(0.4)
    x = tf.ones([50, 50])
    return [near(tf.reduce_mean(d(x, is_training=True)), 0.1), d(X, is_training=False)]


def custom_getter():
    m = snt.Linear(2)
    m(X)
    _filled(m)
    with (
        snt.custom_variable_getter(lambda v: v * 2.0)
        if hasattr(snt, "custom_variable_getter")
        else tf.name_scope("x")
    ):
        y = m(X)
    with tf.variable_creator_scope(lambda nxt, **kw: nxt(**{**kw, "trainable": False})):
        k = snt.Linear(2)
        k(X)
    return [y, len(k.trainable_variables)]


def build():
    m = snt.nets.MLP([3, 2])
    spec = snt.build(m, tf.TensorSpec([None, 3], tf.float32))
    return [spec.shape.as_list(), [v.shape.as_list() for v in m.variables]]


def summaries():
    m = snt.nets.MLP([3, 2])
    m(X)
    text = snt.format_variables(m.variables)
    return [text.splitlines()[0].split(), snt.log_variables is not None, len(text.splitlines())]


def bias_and_scale():
    m, s = snt.Bias(bias_dims=[-1]), snt.LeakyReLU(0.1) if hasattr(snt, "LeakyReLU") else tf.nn.relu
    return [_called(m, X), s(X), snt.scale_gradient(X, 0.5)]


def scaled_gradients():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = snt.scale_gradient(v, 0.5) ** 2
    return [tape.gradient(y, v), y]


def save_as_a_module():
    m = snt.nets.MLP([4, 1])
    m(X)
    _filled(m)

    class Exported(tf.Module):
        pass

    e = Exported()
    e.inference = tf.function(lambda x: m(x), input_signature=[tf.TensorSpec([None, 3])])
    e.all_variables = list(m.variables)
    with tempfile.TemporaryDirectory() as d:
        tf.saved_model.save(e, d)
        r = tf.saved_model.load(d)
        return [r.inference(X), len(r.all_variables)]


def names_in_scopes():
    with tf.name_scope("outer"):
        m = snt.Linear(2, name="inner")
    m(X)
    with snt.Module(name="named").name_scope:
        v = tf.Variable(1.0, name="v")
    return [m.w.name, v.name, m.name]


def axis_norm():
    m = snt.Tensor if False else snt.distribute
    return [
        sorted(n for n in dir(m) if n in ("Replicator", "CrossReplicaBatchNorm", "TpuReplicator"))
    ]
