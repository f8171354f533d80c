"""How to do without what Wengert does not have: by name, or by the beginning of a name (`…*`).

Only names that programs meet stand here; for the others the nearest spelling is offered.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

_FIRST = "It belongs to TensorFlow 1."

REMEDIES = {
    "tf.Operation": "Look at a traced function with print(f.get_concrete_function(...).graph).",
    "tf.RegisterGradient": "State the gradient with tf.custom_gradient.",
    "tf.Session": f"{_FIRST} Call functions on tensors directly.",
    "tf.InteractiveSession": f"{_FIRST} Call functions on tensors directly.",
    "tf.ConfigProto": f"{_FIRST} Devices and threads are set with tf.config.",
    "tf.reset_default_graph": f"{_FIRST} There is no graph to reset; see tf.keras.backend.clear_session.",
    "tf.nn.dynamic_rnn": f"{_FIRST} Use tf.keras.layers.RNN.",
    "tf.nn.static_rnn": f"{_FIRST} Use tf.keras.layers.RNN(unroll=True).",
    "tf.placeholder": f"{_FIRST} Give the value as an argument of a tf.function.",
    "tf.global_variables_initializer": f"{_FIRST} Variables have a value when they are made.",
    "tf.get_variable": f"{_FIRST} Make a tf.Variable and keep it on a tf.Module.",
    "tf.variable_scope": f"{_FIRST} Use tf.name_scope, and a tf.Module to hold variables.",
    "tf.assign": f"{_FIRST} Use the method v.assign(x).",
    "tf.layers": f"{_FIRST} Use tf.keras.layers.",
    "tf.contrib": f"{_FIRST} Most of it lives on in tf.keras or in packages of its own.",
    "tf.app": f"{_FIRST} Use argparse or absl.app.",
    "tf.flags": f"{_FIRST} Use argparse or absl.flags.",
    "tf.logging": f"{_FIRST} Use tf.get_logger() or the module logging.",
    "tf.gfile": f"{_FIRST} Use tf.io.gfile or pathlib.",
    "tf.summaries": f"{_FIRST} Use tf.summary.",
    "tf.to_float": f"{_FIRST} Use tf.cast(x, tf.float32).",
    "tf.to_int32": f"{_FIRST} Use tf.cast(x, tf.int32).",
    "tf.random_normal": f"{_FIRST} Use tf.random.normal.",
    "tf.random_uniform": f"{_FIRST} Use tf.random.uniform.",
    "tf.truncated_normal": f"{_FIRST} Use tf.random.truncated_normal.",
    "tf.set_random_seed": f"{_FIRST} Use tf.random.set_seed.",
    "tf.random_shuffle": f"{_FIRST} Use tf.random.shuffle.",
    "tf.mul": f"{_FIRST} Use tf.multiply.",
    "tf.sub": f"{_FIRST} Use tf.subtract.",
    "tf.neg": f"{_FIRST} Use tf.negative.",
    "tf.matrix_inverse": f"{_FIRST} Use tf.linalg.inv.",
    "tf.matrix_determinant": f"{_FIRST} Use tf.linalg.det.",
    "tf.self_adjoint_eig": f"{_FIRST} Use tf.linalg.eigh.",
    "tf.*multinomial": f"{_FIRST} Use tf.random.categorical.",
    "tf.sparse_placeholder": f"{_FIRST} Give the value as an argument of a tf.function.",
    "tf.sparse_tensor_to_dense": f"{_FIRST} Use tf.sparse.to_dense.",
    "tf.read_file": f"{_FIRST} Use tf.io.read_file.",
    "tf.glorot_*_initializer": f"{_FIRST} Use tf.keras.initializers.",
    "tf.initialize_*_variables": f"{_FIRST} Variables have a value when they are made.",
    "tf.local_variables_initializer": f"{_FIRST} Variables have a value when they are made.",
    "tf.*_variables": f"{_FIRST} Ask a tf.Module or a Keras model for its variables.",
    "tf.*_collection": f"{_FIRST} Keep tensors and variables in lists of your own.",
    "tf.GraphKeys": f"{_FIRST} Keep tensors and variables in lists of your own.",
    "tf.get_default_graph": f"{_FIRST} Operations outside a tf.function run at once.",
    "tf.enable_v2_behavior": f"{_FIRST} Programs run as in TensorFlow 2 as it is.",
    "tf.distributions": f"{_FIRST} Write the density out with tf.math, or draw with tf.random.",
    "tf.nn.*rnn": f"{_FIRST} Use tf.keras.layers.RNN or Bidirectional.",
    "tf.nn.rnn_cell": f"{_FIRST} Use tf.keras.layers.LSTMCell or GRUCell.",
    "tf.nn.xw_plus_b": f"{_FIRST} Write x @ w + b.",
    "tf.image.resize_images": f"{_FIRST} Use tf.image.resize.",
    "tf.image.resize_bi*": f"{_FIRST} Use tf.image.resize with its `method`.",
    "tf.summary.FileWriter": f"{_FIRST} Use tf.summary.create_file_writer.",
    "tf.summary.merge*": f"{_FIRST} Write with tf.summary.scalar and its kin inside a writer.",
    "tf.data.make_*_iterator": f"{_FIRST} Write `for x in dataset`, or iter(dataset).",
    "tf.train.*Optimizer": f"{_FIRST} Use tf.keras.optimizers.",
    "tf.train.*_decay": f"{_FIRST} Use tf.keras.optimizers.schedules.",
    "tf.train.Saver": f"{_FIRST} Use tf.train.Checkpoint.",
    "tf.train.*global_step": f"{_FIRST} Count with a tf.Variable, or optimizer.iterations.",
    "tf.train.*Session": f"{_FIRST} Call functions on tensors directly.",
    "tf.train.*queue*": f"{_FIRST} Use tf.data.",
    "tf.disable_v2_behavior": f"{_FIRST} Programs in its style do not run here.",
    "tf.enable_eager_execution": f"{_FIRST} Operations run at once as it is.",
    "tf.compat.v1*": f"{_FIRST} Use the name of TensorFlow 2.",
    "tf.check_pinned": "It is about TensorFlow's own memory; leave it out.",
    "tf.estimator": "TensorFlow has dropped it too. Use tf.keras.Model.fit.",
    "tf.feature_column": "Use Keras's preprocessing layers.",
    "tf.hessians": "Use two nested tf.GradientTape, or tape.jacobian of a gradient.",
    "tf.graph_util": "There are no GraphDefs here. Save weights with tf.train.Checkpoint.",
    "tf.import_graph_def": "There are no GraphDefs here. Rebuild the model in Python.",
    "tf.keras.backend.*": "Use keras.ops, or the operations of tf.",
    "tf.lite": "Export the weights and convert the model with TensorFlow itself.",
    "tf.load_library": "There are no custom kernels here. Use tf.py_function or JAX.",
    "tf.load_op_library": "There are no custom kernels here. Use tf.py_function or JAX.",
    "tf.lookup.*": "Look words up in a Python dict, or with tf.keras.layers.StringLookup.",
    "tf.make_ndarray": "Use tf.io.parse_tensor(text, dtype).numpy().",
    "tf.make_tensor_proto": "Use tf.io.serialize_tensor.",
    "tf.mlir": "Compiled functions show their program: f.experimental_get_compiler_ir(x)().",
    "tf.no_gradient": "State it with tf.custom_gradient, or use tf.stop_gradient.",
    "tf.q*int*": "Quantised types are not here. Use tf.int8 with a scale of your own.",
    "tf.quantization.*": "Quantised types are not here. Use tf.int8 with a scale of your own.",
    "tf.queue": "Use Python's queue.Queue, or tf.data for input pipelines.",
    "tf.raw_ops.*": "Use the function of the same meaning in tf., tf.math, tf.nn or tf.linalg.",
    "tf.register_tensor_conversion_function": "Give the class a method __tf_tensor__(dtype).",
    "tf.resource": "Variables are the only resources here; they are passed as they are.",
    "tf.sysconfig.*": "There is nothing to compile against here.",
    "tf.test.*": "Use pytest with np.testing, and wengert.testing.check_gradients.",
    "tf.tpu": "TPUs are reached through JAX; wengert.engine('xla') compiles for them.",
    "tf.variant": "Lists and datasets are Python objects here; they need no dtype.",
    "tf.xla": "Use tf.function(jit_compile=True).",
}


def remedy(name: str) -> str:
    """How to do without a name; nothing where the table is silent."""
    cached = REMEDIES.get(name)
    if cached is not None:
        return cached
    starred = (
        r for pattern, r in REMEDIES.items() if "*" in pattern and fnmatchcase(name, pattern)
    )
    return next(starred, "")
