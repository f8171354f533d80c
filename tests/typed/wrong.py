"""Programs with the mistake of each line named after it: a checker finds these and no others."""

from __future__ import annotations

import wengert as tf

a = tf.constant([1.0, 2.0])
v = tf.Variable(a)

tf.reduce_smu(a)  # wrong: reduce_smu
tf.matmul(a)  # wrong: "b"
tf.nn.reluu(a)  # wrong: reluu
tf.one_hot([1], dept=3)  # wrong: dept
tf.data.Datset  # wrong: Datset
tf.data.experimental.no_such_name  # wrong: no_such_name
tf.data.Dataset.range(3).btch(2)  # wrong: btch
tf.data.Dataset.range(3).batch(2, drop_remaindr=True)  # wrong: drop_remaindr
tf.io.gfile.exist("x")  # wrong: exist
tf.errors.InvalidArgument  # wrong: InvalidArgument
tf.core  # wrong: core
tf.math.redcue_mean(a)  # wrong: redcue_mean
tf.random.experimental.Generater  # wrong: Generater
tf.keras.layers.Dens(3)  # wrong: Dens
a.nmpy()  # wrong: nmpy
a.backward()  # wrong: backward
a.numpy().tolits()  # wrong: tolits
tf.reduce_sum(a).shap  # wrong: shap
(a + v).dtyp  # wrong: dtyp
v.assgn(a)  # wrong: assgn
a.assign(v)  # wrong: assign
tf.zeros([2], "float32", typ=1)  # wrong: typ
with tf.GradientTape(persistnt=True) as tape:  # wrong: persistnt
    y = a * v
tape.gradient(y)  # wrong: gradient
tape.gradient(y, v).shap  # wrong: shap
tape.gradient(y, [v])[0].nmpy()  # wrong: nmpy
tape.gradient(y, {"v": v}).valus()  # wrong: valus
tape.gradient(y, sorces=v)  # wrong: gradient


@tf.function
def step(x: tf.Tensor, rate: float = 0.1) -> tf.Tensor:
    return x * rate


step()  # wrong: "x"
step(a, rat=0.1)  # wrong: rat
step(a).nmpy()  # wrong: nmpy
step.coverag()  # wrong: coverag


@tf.function(jit_compil=True)  # wrong: function
def other(x: tf.Tensor) -> tf.Tensor:
    return x


class Layer(tf.Module):
    @tf.function(jit_compile=True)
    def call(self, x: tf.Tensor, training: bool = False) -> tf.Tensor:
        return x


Layer().call(a, trainin=True)  # wrong: trainin
Layer().call()  # wrong: "x"
Layer().call(a).shap  # wrong: shap
