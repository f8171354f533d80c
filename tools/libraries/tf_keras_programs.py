"""Programs after the documentation of tf_keras (Keras 2), with weights that are set by formula."""

import os
import tempfile

import numpy as np
import tensorflow as tf
import tf_keras as keras
from programs import near

L = keras.layers
X = np.cos(np.arange(48, dtype=np.float32)).reshape(16, 3)
Y = (X.sum(1, keepdims=True) > 0).astype(np.float32)
IMAGES = np.sin(np.arange(2 * 8 * 8 * 3, dtype=np.float32)).reshape(2, 8, 8, 3)
WORDS = np.arange(24).reshape(4, 6) % 7
SEQUENCES = np.sin(np.arange(4 * 5 * 3, dtype=np.float32)).reshape(4, 5, 3)


def _filled(model):
    model.set_weights(
        [
            np.cos(0.7 * np.arange(w.size) + k).reshape(w.shape).astype(w.dtype) * 0.4
            if w.ndim > 1
            else np.abs(w) + 0.1 * k
            for k, w in enumerate(model.get_weights())
        ]
    )
    return model


def _mlp(**options):
    model = keras.Sequential(
        [L.Dense(5, activation="relu", input_shape=(3,)), L.Dense(1, **options)]
    )
    return _filled(model)


def fit_evaluate_predict():
    m = _mlp(activation="sigmoid")
    m.compile("sgd", "binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])
    h = m.fit(X, Y, batch_size=4, epochs=3, verbose=0, shuffle=False)
    return [
        h.history,
        m.evaluate(X, Y, verbose=0, return_dict=True),
        m.predict(X[:3], verbose=0),
        m.get_weights(),
    ]


def all_optimizers():
    out = []
    for o in (
        keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True), keras.optimizers.Adam(0.01), keras.optimizers.AdamW(0.01), keras.optimizers.RMSprop(0.01),
        keras.optimizers.Adagrad(0.1), keras.optimizers.Adadelta(1.0), keras.optimizers.Adamax(0.01), keras.optimizers.Nadam(0.01), keras.optimizers.Ftrl(0.1), keras.optimizers.Lion(0.01),
    ):  # fmt: skip
        m = _mlp()
        m.compile(o, "mse")
        out.append(m.fit(X, Y, batch_size=8, epochs=2, verbose=0, shuffle=False).history["loss"])
    return out


def legacy_optimizers():
    out = []
    for o in (
        keras.optimizers.legacy.SGD(0.1, momentum=0.9),
        keras.optimizers.legacy.Adam(0.01),
        keras.optimizers.legacy.RMSprop(0.01),
        keras.optimizers.legacy.Adagrad(0.1),
    ):
        m = _mlp()
        m.compile(o, "mse")
        out.append(m.fit(X, Y, batch_size=8, epochs=2, verbose=0, shuffle=False).history["loss"])
    return out


def functional_with_branches():
    a, b = keras.Input((3,), name="a"), keras.Input((3,), name="b")
    shared = L.Dense(4, activation="tanh")
    x = L.Concatenate()([shared(a), shared(b)])
    m = _filled(keras.Model([a, b], {"y": L.Dense(1, name="y")(x), "z": L.Dense(2, name="z")(x)}))
    m.compile("sgd", {"y": "mse", "z": "mae"}, loss_weights={"y": 1.0, "z": 0.5})
    h = m.fit({"a": X, "b": X * 2}, {"y": Y, "z": X[:, :2]}, epochs=2, verbose=0, shuffle=False)
    return [
        h.history,
        m.predict([X[:2], X[:2]], verbose=0),
        [layer.name.split("_")[0] for layer in m.layers],
    ]


def operations_on_symbols():
    i = keras.Input((3,))
    x = tf.nn.relu(i) * 2.0 + 1.0
    x = tf.concat([x, 1.0 - i, -i, i / 2.0, i**2], axis=-1)
    y = tf.reduce_mean(x, axis=-1, keepdims=True) + x[:, 1:2]
    z = tf.where(i > 0.0, tf.sqrt(tf.abs(i)), tf.zeros_like(i))
    m = keras.Model(
        i, [y, tf.transpose(z), tf.matmul(i, tf.ones([3, 2])), tf.cast(i > 0, tf.int32)]
    )
    return [m.predict_on_batch(X[:4]), [type(layer).__name__ for layer in m.layers][:6]]


def subclassed_model():
    class M(keras.Model):
        def __init__(self):
            super().__init__()
            self.stack = [L.Dense(4, activation="relu"), L.Dense(4, activation="relu")]
            self.heads = {"out": L.Dense(1)}
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones")

        def call(self, x, training=False):
            for layer in self.stack:
                x = layer(x)
            if training:
                x = x * 1.0
            return self.heads["out"](x) * self.scale

    m = M()
    m(X)
    _filled(m)
    m.compile("sgd", "mse")
    h = m.fit(X, Y, epochs=2, verbose=0, shuffle=False)
    return [h.history, len(m.trainable_weights), m(X[:2]), m.count_params()]


def custom_train_step():
    class M(keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
            self.compiled_metrics.update_state(y, self(x))
            return {m.name: m.result() for m in self.metrics} | {"own": loss}

    i = keras.Input((3,))
    m = _filled(M(i, L.Dense(1)(i)))
    m.compile("sgd", "mse", metrics=["mae"])
    return m.fit(X, Y, epochs=2, verbose=0, shuffle=False).history


def custom_layer_with_loss():
    class Linear(L.Layer):
        def __init__(self, units, **kw):
            super().__init__(**kw)
            self.units = units

        def build(self, shape):
            self.w = self.add_weight(
                shape=(shape[-1], self.units),
                initializer="ones",
                regularizer=keras.regularizers.l2(0.1),
                name="w",
            )
            self.b = self.add_weight(
                shape=(self.units,), initializer="zeros", trainable=True, name="b"
            )
            self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False, name="seen")

        def call(self, x):
            self.add_loss(0.01 * tf.reduce_sum(x**2))
            self.seen.assign_add(1.0)
            return x @ self.w + self.b

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    m = keras.Sequential([keras.Input((3,)), Linear(2)])
    m.compile("sgd", "mse")
    h = m.fit(X, X[:, :2], epochs=2, verbose=0, shuffle=False)
    return [
        h.history,
        m.get_weights(),
        len(m.losses),
        Linear.from_config(m.layers[0].get_config()).units,
    ]


def convolutions():
    m = keras.Sequential([
        L.Conv2D(4, 3, padding="same", activation="relu", input_shape=(8, 8, 3)), L.MaxPooling2D(), L.SeparableConv2D(3, 3), L.DepthwiseConv2D(2),
        L.Conv2DTranspose(2, 2, strides=2), L.AveragePooling2D(2), L.UpSampling2D(), L.ZeroPadding2D(), L.Cropping2D(1), L.GlobalAveragePooling2D(),
    ])  # fmt: skip
    return [_filled(m)(IMAGES), [tuple(layer.output_shape) for layer in m.layers]]


def one_and_three_dimensions():
    x = SEQUENCES
    y = np.sin(np.arange(2 * 4 * 4 * 4 * 2, dtype=np.float32)).reshape(2, 4, 4, 4, 2)
    a = _filled(
        keras.Sequential(
            [
                L.Conv1D(3, 2, padding="causal", input_shape=(5, 3)),
                L.MaxPooling1D(2),
                L.GlobalMaxPooling1D(),
            ]
        )
    )
    b = _filled(
        keras.Sequential(
            [L.Conv3D(2, 2, input_shape=(4, 4, 4, 2)), L.AveragePooling3D(), L.Flatten()]
        )
    )
    return [a(x), b(y)]


def normalization():
    bn, ln = L.BatchNormalization(), L.LayerNormalization()
    gn, un = L.GroupNormalization(groups=3), L.UnitNormalization()
    first = bn(IMAGES, training=True)
    n = L.Normalization()
    n.adapt(X)
    return [
        first,
        bn(IMAGES),
        ln(IMAGES),
        gn(IMAGES),
        un(X),
        n(X),
        bn.get_weights(),
        n.mean,
        L.SpectralNormalization(L.Dense(2)).name.split("_")[0],
    ]


def recurrent_layers():
    out = []
    for layer in (
        L.LSTM(4), L.GRU(4), L.SimpleRNN(4), L.LSTM(4, return_sequences=True, return_state=True), L.GRU(4, go_backwards=True, reset_after=False),
        L.Bidirectional(L.LSTM(3, return_sequences=True)), L.RNN([L.LSTMCell(3), L.GRUCell(2)]), L.TimeDistributed(L.Dense(2)), L.LSTM(3, unroll=True),
    ):  # fmt: skip
        i = keras.Input((5, 3))
        m = keras.Model(i, layer(i))
        out.append(_filled(m)(SEQUENCES))
    return out


def masks_and_embeddings():
    i = keras.Input((6,), dtype="int32")
    x = L.Embedding(7, 4, mask_zero=True)(i)
    m = _filled(
        keras.Model(i, [L.LSTM(3)(x), L.GlobalAveragePooling1D()(x), L.Bidirectional(L.GRU(2))(x)])
    )
    s = _filled(keras.Sequential([L.Masking(input_shape=(5, 3)), L.LSTM(2)]))
    z = SEQUENCES.copy()
    z[:, 3:] = 0
    return [m(WORDS), s(z)]


def train_recurrent():
    m = keras.Sequential([L.Embedding(7, 4), L.LSTM(5), L.Dense(1)])
    m(WORDS)
    _filled(m)
    m.compile("adam", "mse")
    h = m.fit(WORDS, Y[:4], epochs=3, verbose=0, shuffle=False)
    g = _filled(
        keras.Sequential([L.GRU(4, stateful=True, batch_input_shape=(4, 5, 3)), L.Dense(1)])
    )
    g.compile("sgd", "mse")
    k = g.fit(SEQUENCES, Y[:4], batch_size=4, epochs=2, verbose=0, shuffle=False)
    g.reset_states()
    return [h.history, k.history]


def attention():
    q, v = SEQUENCES[:2, :3], SEQUENCES[2:]
    mha = L.MultiHeadAttention(2, 3)
    mha(q, v)
    _filled(mha)
    return [
        mha(q, v),
        mha(q, v, return_attention_scores=True)[1],
        L.Attention()([q, v]),
        L.AdditiveAttention(use_scale=False)([q, v]),
    ]


def merges_and_shapes():
    a, b = X[:, :2], X[:, 1:]
    layers = [
        L.Add(),
        L.Subtract(),
        L.Multiply(),
        L.Average(),
        L.Maximum(),
        L.Minimum(),
        L.Dot(1),
        L.Concatenate(),
    ]
    return [
        *[layer([a, b]) for layer in layers],
        L.Reshape((3, 1))(X),
        L.Permute((2, 1))(SEQUENCES),
        L.RepeatVector(2)(X),
        L.Flatten()(SEQUENCES),
        L.Lambda(lambda t: t * 2)(X),
    ]


def activations():
    names = [
        "elu",
        "exponential",
        "gelu",
        "hard_sigmoid",
        "linear",
        "mish",
        "relu",
        "selu",
        "sigmoid",
        "softmax",
        "softplus",
        "softsign",
        "swish",
        "tanh",
    ]
    return [
        *[keras.activations.get(n)(tf.constant(X)) for n in names],
        L.LeakyReLU(0.2)(X),
        L.PReLU()(X),
        L.ReLU(max_value=0.5)(X),
        L.ThresholdedReLU(0.3)(X),
        L.ELU()(X),
        L.Softmax()(X),
    ]


def losses():
    p, t = np.abs(X) / 2, np.eye(3, dtype=np.float32)[np.arange(16) % 3]
    q = keras.activations.softmax(tf.constant(X))
    k = keras.losses
    fs = [
        k.MeanSquaredError(), k.MeanAbsoluteError(), k.MeanAbsolutePercentageError(), k.MeanSquaredLogarithmicError(), k.BinaryCrossentropy(), k.CategoricalCrossentropy(),
        k.BinaryFocalCrossentropy(), k.CategoricalFocalCrossentropy(), k.Huber(), k.KLDivergence(), k.Poisson(), k.LogCosh(), k.Hinge(), k.SquaredHinge(), k.CategoricalHinge(), k.CosineSimilarity(),
        k.BinaryCrossentropy(from_logits=True, label_smoothing=0.1), k.CategoricalCrossentropy(label_smoothing=0.1, reduction="sum"),
    ]  # fmt: skip
    s = k.SparseCategoricalCrossentropy(from_logits=True)
    return [
        *[f(t, q) for f in fs],
        s(np.arange(16) % 3, X),
        k.mean_squared_error(t, p),
        s(np.arange(16) % 3, X, sample_weight=np.arange(16) / 16),
    ]


def metrics():
    k = keras.metrics
    t, p = (np.arange(16) % 2).astype(np.float32), (np.cos(np.arange(16) * 2.0) + 1) / 2
    out = []
    for m in (
        k.BinaryAccuracy(), k.Precision(), k.Recall(), k.AUC(num_thresholds=20), k.MeanSquaredError(), k.RootMeanSquaredError(), k.MeanAbsoluteError(), k.TruePositives(), k.FalseNegatives(),
        k.BinaryCrossentropy(), k.PrecisionAtRecall(0.5), k.SensitivityAtSpecificity(0.5), k.BinaryIoU([0, 1], 0.5), k.CosineSimilarity(axis=0), k.R2Score(), k.F1Score(threshold=0.5), k.Hinge(), k.LogCoshError(),
    ):  # fmt: skip
        a, b = (
            (t[:, None], p[:, None].astype(np.float32))
            if isinstance(m, k.R2Score | k.F1Score)
            else (t, p)
        )
        m.update_state(a[:8], b[:8])
        m.update_state(a[8:], b[8:])
        out.append(m.result())
    s = k.SparseCategoricalAccuracy()
    s.update_state(
        [0, 1, 2], [[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [0.0, 0.1, 0.9]], sample_weight=[1, 2, 1]
    )
    tk, iou = k.SparseTopKCategoricalAccuracy(2), k.MeanIoU(2)
    tk.update_state([0, 1, 2], [[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [0.0, 0.1, 0.9]])
    iou.update_state([0, 1, 1, 0], [0, 1, 0, 0])
    mean = k.Mean()
    mean.update_state([1.0, 2.0, 6.0])
    value = mean.result()
    mean.reset_state()
    return [
        *out,
        s.result(),
        tk.result(),
        iou.result(),
        value,
        mean.result(),
        k.MeanTensor()([[1.0, 2.0]]),
    ]


def callbacks():
    m = _mlp()
    m.compile(keras.optimizers.SGD(0.1), "mse")
    seen = []

    class Own(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append((epoch, sorted(logs)))

        def on_train_batch_end(self, batch, logs=None):
            seen.append(batch)

    with tempfile.TemporaryDirectory() as d:
        calls = [
            Own(), keras.callbacks.EarlyStopping("loss", patience=1, min_delta=10.0), keras.callbacks.ReduceLROnPlateau("loss", patience=1, min_delta=10.0),
            keras.callbacks.ModelCheckpoint(os.path.join(d, "w.weights.h5"), save_weights_only=True), keras.callbacks.CSVLogger(os.path.join(d, "log.csv")),
            keras.callbacks.LearningRateScheduler(lambda e: 0.1 / (e + 1)), keras.callbacks.TerminateOnNaN(), keras.callbacks.LambdaCallback(on_train_end=lambda logs: seen.append("end")),
        ]  # fmt: skip
        h = m.fit(
            X,
            Y,
            batch_size=8,
            epochs=4,
            verbose=0,
            callbacks=calls,
            validation_split=0.25,
            shuffle=False,
        )
        files = sorted(os.listdir(d))
    return [h.history, seen, files]


def schedules():
    s = keras.optimizers.schedules
    ss = [
        s.ExponentialDecay(0.1, 10, 0.5),
        s.CosineDecay(0.1, 20),
        s.PiecewiseConstantDecay([5, 10], [0.1, 0.05, 0.01]),
        s.PolynomialDecay(0.1, 10),
        s.InverseTimeDecay(0.1, 5, 0.5),
        s.CosineDecayRestarts(0.1, 5),
    ]
    m = _mlp()
    m.compile(keras.optimizers.SGD(ss[0]), "mse")
    return [
        [[one(k) for k in (0, 7, 15)] for one in ss],
        m.fit(X, Y, batch_size=4, epochs=2, verbose=0, shuffle=False).history,
    ]


def save_and_load():
    m = _mlp(activation="sigmoid")
    m.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    m.fit(X, Y, epochs=1, verbose=0, shuffle=False)
    out = [m.predict(X[:2], verbose=0)]
    with tempfile.TemporaryDirectory() as d:
        for name in ("m.keras", "m.h5"):
            m.save(os.path.join(d, name))
            n = keras.models.load_model(os.path.join(d, name))
            out += [
                n.predict(X[:2], verbose=0),
                n.fit(X, Y, epochs=1, verbose=0, shuffle=False).history["loss"],
            ]
        m.save_weights(os.path.join(d, "w.weights.h5"))
        k = _mlp(activation="sigmoid")
        k.load_weights(os.path.join(d, "w.weights.h5"))
        out.append(k.predict(X[:2], verbose=0))
    return out


def checkpoint_weights():
    m, n = _mlp(), keras.Sequential([L.Dense(5, activation="relu", input_shape=(3,)), L.Dense(1)])
    with tempfile.TemporaryDirectory() as d:
        m.save_weights(os.path.join(d, "w"))
        n.load_weights(os.path.join(d, "w"))
        first = n(X[:2])
        c = tf.train.Checkpoint(model=m, optimizer=keras.optimizers.Adam())
        path = c.save(os.path.join(d, "c"))
        m.set_weights([w * 0 for w in m.get_weights()])
        c.restore(path)
    return [first, m(X[:2])]


def configurations():
    m = _mlp(activation="sigmoid")
    n = keras.Sequential.from_config(m.get_config())
    k = keras.models.model_from_json(m.to_json())
    c = keras.models.clone_model(m)
    a = keras.Input((3,))
    f = keras.Model(a, tf.nn.relu(L.Dense(2)(a)) + 1.0)
    g = _filled(keras.Model.from_config(f.get_config()))
    return [
        len(n.layers),
        k.layers[1].units,
        len(c.get_weights()),
        g(X[:2]),
        keras.layers.serialize(L.Dense(3))["class_name"],
        keras.optimizers.deserialize(
            keras.optimizers.serialize(keras.optimizers.Adam(0.3))
        ).learning_rate,
    ]


def datasets():
    d = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    m = _mlp()
    m.compile("sgd", "mse", metrics=["mae"])
    h = m.fit(d, epochs=2, verbose=0, validation_data=d.take(2))
    w = m.fit(
        d.map(lambda x, y: (x, y, y * 0.5 + 0.1)).repeat(), epochs=1, steps_per_epoch=3, verbose=0
    )
    g = m.fit(((X[k : k + 4], Y[k : k + 4]) for k in range(0, 16, 4)), verbose=0)
    return [h.history, w.history, g.history, m.evaluate(d, verbose=0), m.predict(d, verbose=0)]


def sequences_and_weights():
    class S(keras.utils.Sequence):
        def __len__(self):
            return 4

        def __getitem__(self, k):
            return X[4 * k : 4 * k + 4], Y[4 * k : 4 * k + 4]

    m = _mlp(activation="sigmoid")
    m.compile("sgd", "binary_crossentropy", weighted_metrics=["accuracy"])
    h = m.fit(S(), epochs=1, verbose=0, shuffle=False)
    k = m.fit(X, Y, class_weight={0: 1.0, 1: 3.0}, verbose=0, shuffle=False)
    w = m.fit(X, Y, sample_weight=np.arange(16) / 16.0, verbose=0, shuffle=False)
    return [h.history, k.history, w.history]


def batches():
    m = _mlp()
    m.compile("sgd", "mse", metrics=["mae"])
    return [
        m.train_on_batch(X, Y),
        m.test_on_batch(X, Y),
        m.predict_on_batch(X[:2]),
        m.train_on_batch(X, Y, return_dict=True, reset_metrics=False),
    ]


def gradient_tape_loop():
    m, o, f = _mlp(), keras.optimizers.Adam(0.05), keras.losses.MeanSquaredError()
    mean = keras.metrics.Mean()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = f(y, m(x, training=True))
        o.apply_gradients(zip(tape.gradient(loss, m.trainable_variables), m.trainable_variables))
        mean(loss)
        return loss

    return [[step(X, Y) for _ in range(4)], mean.result(), o.iterations]


def eager_and_jit():
    out = []
    for options in ({"run_eagerly": True}, {"jit_compile": True}, {"steps_per_execution": 2}):
        m = _mlp()
        m.compile("sgd", "mse", **options)
        out.append(m.fit(X, Y, batch_size=4, epochs=2, verbose=0, shuffle=False).history["loss"])
    return out


def regularizers_and_constraints():
    m = _filled(keras.Sequential([
        L.Dense(4, kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02), bias_regularizer="l1", activity_regularizer="l2", input_shape=(3,)),
        L.Dense(2, kernel_constraint=keras.constraints.MaxNorm(0.5), bias_constraint="non_neg"), L.Dense(1, kernel_constraint=keras.constraints.UnitNorm(), kernel_regularizer=keras.regularizers.OrthogonalRegularizer(0.01)),
    ]))  # fmt: skip
    m.compile("sgd", "mse")
    h = m.fit(X, Y, epochs=2, verbose=0, shuffle=False)
    return [h.history, m.get_weights()]


def dropout_and_noise():
    out = []
    for layer in (
        L.Dropout(0.4, seed=1),
        L.SpatialDropout1D(0.4),
        L.GaussianNoise(0.5),
        L.GaussianDropout(0.3),
        L.AlphaDropout(0.3),
    ):
        x = np.ones((64, 40, 8), np.float32)
        out += [near(tf.reduce_mean(layer(x, training=True)), 0.12), layer(x[:1, :1])]
    return out


def initializers():
    i = keras.initializers
    out = []
    for one in (
        i.RandomNormal(stddev=0.5),
        i.RandomUniform(-1, 1),
        i.TruncatedNormal(stddev=0.5),
        i.GlorotUniform(),
        i.GlorotNormal(),
        i.HeNormal(),
        i.LecunUniform(),
        i.VarianceScaling(2.0, "fan_out"),
    ):
        w = one((100, 80))
        out += [near(tf.reduce_mean(w), 0.05), near(tf.math.reduce_std(w), 0.05)]
    q = i.Orthogonal(seed=1)((6, 4))
    return [
        *out,
        near(tf.matmul(q, q, transpose_a=True), 1e-4),
        i.Identity(2.0)((3, 3)),
        i.Constant(3.0)((2,)),
        i.Ones()((2,)),
    ]


def preprocessing_layers():
    words = L.StringLookup(vocabulary=["a", "b", "c"])
    ints = L.IntegerLookup(vocabulary=[10, 20], output_mode="one_hot")
    text = L.TextVectorization(max_tokens=10, output_sequence_length=4)
    text.adapt(["the cat sat", "the dog"])
    return [
        words(np.array([["a", "z"], ["c", "b"]])), ints(np.array([10, 30, 20])), text(np.array(["the cat", "dog sat the x"])), L.CategoryEncoding(4, "multi_hot")(np.array([[0, 1], [3, 3]])),
        L.Discretization([0.0, 0.5])(X), L.Hashing(5)(np.array([["a"], ["b"]])).shape.as_list(), L.Rescaling(2.0, 1.0)(X), L.CenterCrop(4, 4)(IMAGES), L.Resizing(4, 4)(IMAGES), text.get_vocabulary(),
    ]  # fmt: skip


def augmentation():
    out = []
    for layer in (
        L.RandomFlip(seed=1),
        L.RandomRotation(0.1),
        L.RandomZoom(0.1),
        L.RandomTranslation(0.1, 0.1),
        L.RandomContrast(0.1),
        L.RandomCrop(6, 6),
        L.RandomBrightness(0.1),
        L.RandomHeight(0.1),
        L.RandomWidth(0.1),
    ):
        out.append(layer(IMAGES, training=True).shape.rank)
    return out


def utilities():
    u = keras.utils
    return [
        u.to_categorical([0, 2, 1]), u.normalize(X), keras.preprocessing.sequence.pad_sequences([[1, 2], [3]], maxlen=3), u.get_source_inputs(keras.Input((3,)))[0].shape.as_list(),
        u.timeseries_dataset_from_array(np.arange(8.0), None, 3, batch_size=2).cardinality(), u.Progbar(3, verbose=0).target, u.get_registered_name(L.Dense), len(list(u.split_dataset(X, 0.5)[0])),
    ]  # fmt: skip


def summaries():
    lines = []
    m = _mlp()
    m.summary(print_fn=lines.append)
    return [
        lines[0].split('"')[0],
        m.count_params(),
        [w.name.split("/")[-1] for w in m.weights],
        [tuple(w.shape) for w in m.weights],
        m.input_shape,
        m.output_shape,
    ]


def mixed_precision():
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        i = keras.Input((3,))
        m = _filled(keras.Model(i, L.Dense(1, dtype="float32")(L.Dense(4, activation="relu")(i))))
        m.compile("sgd", "mse")
        h = m.fit(X, Y, epochs=2, verbose=0, shuffle=False)
        return [
            near(h.history["loss"], 0.02),
            m.layers[1].compute_dtype,
            str(m.layers[1].kernel.dtype.name),
            type(m.optimizer).__name__,
        ]
    finally:
        keras.mixed_precision.set_global_policy("float32")


def transfer_and_freezing():
    base = _mlp()
    base.layers[0].trainable = False
    top = keras.Model(base.inputs, L.Dense(1, kernel_initializer="ones")(base.layers[0].output))
    top.compile("sgd", "mse")
    before = base.layers[0].get_weights()
    h = top.fit(X, Y, epochs=2, verbose=0, shuffle=False)
    return [
        h.history,
        all((a == b).all() for a, b in zip(before, base.layers[0].get_weights())),
        len(top.trainable_weights),
        top.get_layer(index=1).name.split("_")[0],
    ]


def applications():
    m = keras.applications.MobileNetV2(input_shape=(32, 32, 3), weights=None, classes=5, alpha=0.35)
    y = m(np.zeros((1, 32, 32, 3), np.float32))
    return [
        m.count_params(),
        y.shape.as_list(),
        near(tf.reduce_sum(y), 1e-4),
        keras.applications.mobilenet_v2.preprocess_input(IMAGES * 255),
    ]


def backend():
    k = keras.backend
    return [
        k.floatx(),
        k.epsilon(),
        k.mean(tf.constant(X)),
        k.dot(tf.constant(X), tf.ones([3, 2])),
        k.int_shape(tf.constant(X)),
        k.softmax(tf.constant(X)),
        k.clip(tf.constant(X), -0.5, 0.5),
        k.one_hot(tf.constant([0, 1]), 2),
        k.batch_dot(tf.constant(SEQUENCES), tf.transpose(SEQUENCES, [0, 2, 1])),
        k.get_value(k.variable(3.0)),
        k.sum(k.square(tf.constant(X)), axis=1),
    ]


def saved_model():
    m = _mlp()
    with tempfile.TemporaryDirectory() as d:
        tf.saved_model.save(m, d) if False else m.export(d)
        r = tf.saved_model.load(d)
        return r.serve(X[:2])
