"""Programs after the documentation of DeepXDE, on its backend `tensorflow`.

Networks begin with weights that are set by formula, and points lie on grids, so that losses are the
same; what depends on drawn points is compared with a tolerance.
"""

import os

os.environ.setdefault("DDE_BACKEND", "tensorflow")
import deepxde as dde
import numpy as np
import tensorflow as tf
from programs import near

PI = np.pi


def _fill(net):
    for k, v in enumerate(net.trainable_variables):
        v.assign((np.cos(0.7 * np.arange(v.shape.num_elements()) + k) * 0.3).reshape(v.shape))


def _train(data, net, steps=20, lr=1e-3, width=None, external=None, **compile_options):
    model = dde.Model(data, net)
    model.compile(
        "adam", lr=lr, verbose=0, external_trainable_variables=external, **compile_options
    )
    x = data.train_x[0][:1] if isinstance(data.train_x, list | tuple) else data.train_x[:1]
    if not isinstance(data.train_x, list | tuple):
        net(tf.constant(x, tf.float32))
        _fill(net)
    history, _ = model.train(iterations=steps, display_every=steps, verbose=0)
    return model, [np.sum(history.loss_train[0]), np.sum(history.loss_train[-1])]


def _poisson(train="uniform", bc=None, n=16, kind=dde.data.PDE):
    geom = dde.geometry.Interval(-1, 1)

    def pde(x, y):
        return -dde.grad.hessian(y, x) - PI**2 * tf.sin(PI * x)

    bcs = bc or dde.icbc.DirichletBC(geom, lambda x: 0, lambda x, on: on)
    return kind(
        geom,
        pde,
        bcs,
        n,
        2,
        solution=lambda x: np.sin(PI * x),
        num_test=10,
        train_distribution=train,
    )


def _net(i=1, o=1):
    return dde.nn.FNN([i, 10, 10, o], "tanh", "Glorot uniform")


def poisson_dirichlet():
    return _train(_poisson(), _net(), metrics=["l2 relative error"])[1]


def poisson_neumann():
    geom = dde.geometry.Interval(-1, 1)
    bc = [
        dde.icbc.DirichletBC(
            geom, lambda x: (x + 1) ** 2, lambda x, on: on and np.isclose(x[0], -1)
        ),
        dde.icbc.NeumannBC(geom, lambda x: 2 * (x + 1), lambda x, on: on and np.isclose(x[0], 1)),
    ]
    data = dde.data.PDE(
        geom, lambda x, y: dde.grad.hessian(y, x) - 2, bc, 16, 2, train_distribution="uniform"
    )
    return _train(data, _net())[1]


def poisson_robin_and_periodic():
    geom = dde.geometry.Interval(-1, 1)
    robin = dde.icbc.RobinBC(geom, lambda x, y: y, lambda x, on: on and np.isclose(x[0], 1))
    periodic = dde.icbc.PeriodicBC(geom, 0, lambda x, on: on and np.isclose(x[0], -1))
    out = []
    for bc in (robin, periodic):
        data = dde.data.PDE(
            geom, lambda x, y: dde.grad.hessian(y, x) - 2, bc, 16, 2, train_distribution="uniform"
        )
        out.append(_train(data, _net())[1])
    return out


def operator_and_point_conditions():
    geom = dde.geometry.Interval(-1, 1)
    op = dde.icbc.OperatorBC(
        geom, lambda x, y, X: dde.grad.jacobian(y, x) - 2.0 * y, lambda x, on: on
    )
    point = dde.icbc.PointSetBC(np.array([[0.1], [0.3]]), np.array([[0.2], [0.4]]))
    data = dde.data.PDE(
        geom, lambda x, y: dde.grad.hessian(y, x), [op, point], 12, 2, train_distribution="uniform"
    )
    return _train(data, _net())[1]


def hard_constraint():
    net = _net()
    net.apply_output_transform(lambda x, y: (1 - x**2) * y)
    geom = dde.geometry.Interval(-1, 1)
    data = dde.data.PDE(
        geom, lambda x, y: -dde.grad.hessian(y, x) - 2.0, [], 16, 2, train_distribution="uniform"
    )
    return _train(data, net)[1]


def feature_transform():
    net = dde.nn.FNN([2, 10, 1], "tanh", "Glorot uniform")
    net.apply_feature_transform(lambda x: tf.concat([tf.sin(x), tf.cos(x)], 1))
    return _train(_poisson(), net)[1]


def _time(pde, n=30, bc=None, ic=None):
    geom = dde.geometry.GeometryXTime(dde.geometry.Interval(-1, 1), dde.geometry.TimeDomain(0, 1))
    bc = dde.icbc.DirichletBC(geom, lambda x: 0, lambda _, on: on)
    ic = dde.icbc.IC(geom, lambda x: -np.sin(PI * x[:, 0:1]), lambda _, on: on)
    return dde.data.TimePDE(
        geom,
        pde,
        [bc, ic],
        num_domain=n,
        num_boundary=10,
        num_initial=10,
        train_distribution="uniform",
    )


def burgers():
    def pde(x, y):
        dy_x, dy_t = dde.grad.jacobian(y, x, i=0, j=0), dde.grad.jacobian(y, x, i=0, j=1)
        return dy_t + y * dy_x - 0.01 / PI * dde.grad.hessian(y, x, i=0, j=0)

    return _train(_time(pde), _net(2))[1]


def diffusion():
    def pde(x, y):
        return (
            dde.grad.jacobian(y, x, j=1)
            - dde.grad.hessian(y, x, j=0)
            + tf.exp(-x[:, 1:]) * tf.sin(PI * x[:, :1])
        )

    return _train(_time(pde), _net(2))[1]


def allen_cahn_and_wave():
    def allen(x, y):
        return (
            dde.grad.jacobian(y, x, j=1) - 0.001 * dde.grad.hessian(y, x, i=0, j=0) - 5 * (y - y**3)
        )

    def wave(x, y):
        return dde.grad.hessian(y, x, i=1, j=1) - 4.0 * dde.grad.hessian(y, x, i=0, j=0)

    return [_train(_time(allen), _net(2))[1], _train(_time(wave), _net(2))[1]]


def system_of_equations():
    geom = dde.geometry.TimeDomain(0, 2)

    def ode(x, y):
        return [dde.grad.jacobian(y, x, i=0) - y[:, 1:2], dde.grad.jacobian(y, x, i=1) + y[:, 0:1]]

    ics = [
        dde.icbc.IC(geom, lambda x: 0, lambda _, on: on, component=0),
        dde.icbc.IC(geom, lambda x: 1, lambda _, on: on, component=1),
    ]
    data = dde.data.PDE(
        geom,
        ode,
        ics,
        16,
        2,
        train_distribution="uniform",
        solution=lambda x: np.hstack([np.sin(x), np.cos(x)]),
        num_test=10,
    )
    return _train(data, _net(1, 2), metrics=["l2 relative error"])[1]


def inverse_problem():
    c = dde.Variable(2.0)
    geom = dde.geometry.Interval(0, 1)
    points = np.linspace(0, 1, 5)[:, None]
    data = dde.data.PDE(
        geom,
        lambda x, y: dde.grad.jacobian(y, x) - c * y,
        [dde.icbc.PointSetBC(points, np.exp(points))],
        12,
        2,
        train_distribution="uniform",
    )
    _, losses = _train(data, _net(), external=[c])
    return [losses, c]


def function_approximation():
    data = (
        dde.data.Function(
            dde.geometry.Interval(-1, 1),
            lambda x: x * np.sin(5 * x),
            16,
            10,
            train_distribution="uniform",
        )
        if False
        else dde.data.DataSet(
            np.linspace(-1, 1, 16)[:, None].astype(np.float32),
            np.sin(np.linspace(-1, 1, 16))[:, None].astype(np.float32),
            np.zeros((2, 1), np.float32),
            np.zeros((2, 1), np.float32),
        )
    )
    model, losses = _train(data, _net(), metrics=["l2 relative error"])
    return [losses, model.predict(np.array([[0.1], [0.5]], np.float32))]


def optimizers():
    out = []
    for name in ("adam", "sgd", "rmsprop") if False else ("adam", "sgd"):
        model = dde.Model(_poisson(), _net())
        model.compile(name, lr=1e-3, verbose=0)
        model.net(tf.constant([[0.1]]))
        _fill(model.net)
        h, _ = model.train(iterations=10, verbose=0)
        out.append(np.sum(h.loss_train[-1]))
    return out


def lbfgs():
    dde.optimizers.config.set_LBFGS_options(maxiter=30)
    model = dde.Model(_poisson(), _net())
    model.compile("L-BFGS", verbose=0)
    model.net(tf.constant([[0.1]]))
    _fill(model.net)
    h, _ = model.train(verbose=0)
    return [
        near(np.sum(h.loss_train[-1]) < 40.0, 0)
        if False
        else bool(np.sum(h.loss_train[-1]) < np.sum(h.loss_train[0]))
    ]


def decayed_learning_rates():
    out = []
    for decay in (("inverse time", 5, 0.5), ("cosine", 20, 0.1)):
        model = dde.Model(_poisson(), _net())
        model.compile("adam", lr=1e-2, decay=decay, verbose=0)
        model.net(tf.constant([[0.1]]))
        _fill(model.net)
        out.append(np.sum(model.train(iterations=12, verbose=0)[0].loss_train[-1]))
    return out


def loss_weights_and_names():
    model = dde.Model(_poisson(), _net())
    model.compile("adam", lr=1e-3, loss_weights=[1.0, 10.0], loss="MAE", verbose=0)
    model.net(tf.constant([[0.1]]))
    _fill(model.net)
    return model.train(iterations=5, verbose=0)[0].loss_train


def callbacks():
    model = dde.Model(_poisson(), _net())
    model.compile("adam", lr=1e-3, verbose=0)
    model.net(tf.constant([[0.1]]))
    _fill(model.net)
    calls = [
        dde.callbacks.EarlyStopping(min_delta=1e9, patience=3),
        dde.callbacks.Timer(10),
        dde.callbacks.FirstDerivative(np.array([[0.1]])),
        dde.callbacks.VariableValue([tf.Variable(1.0)], period=5),
    ]
    h, state = model.train(iterations=20, display_every=1, callbacks=calls, verbose=0)
    return [len(h.steps), state.step]


def resampling():
    model = dde.Model(_poisson("pseudo"), _net())
    model.compile("adam", lr=1e-3, verbose=0)
    h, _ = model.train(
        iterations=6, callbacks=[dde.callbacks.PDEPointResampler(period=2)], verbose=0
    )
    return len(h.loss_train[-1])


def predictions_and_operators():
    model, _ = _train(_poisson(), _net(), 2)
    x = np.array([[0.1], [0.4]], np.float32)
    return [
        model.predict(x),
        model.predict(x, operator=lambda a, b: dde.grad.hessian(b, a)),
        model.predict(x, operator=lambda a, b: dde.grad.jacobian(b, a)),
    ]


def save_and_restore():
    import tempfile

    model, _ = _train(_poisson(), _net(), 3)
    x = np.array([[0.1], [0.4]], np.float32)
    with tempfile.TemporaryDirectory() as d:
        path = model.save(os.path.join(d, "m"), verbose=0)
        first = model.predict(x)
        model.train(iterations=3, verbose=0)
        model.restore(path, verbose=0)
        return [first, model.predict(x)]


def deeponet():
    m, p = 5, 6
    net = dde.nn.DeepONetCartesianProd([m, 8, p], [1, 8, p], "relu", "Glorot normal")
    x = (
        np.sin(np.arange(20.0)).reshape(4, m).astype(np.float32),
        np.linspace(0, 1, 7)[:, None].astype(np.float32),
    )
    y = np.cumsum(np.ones((4, 7), np.float32), 1)
    net([tf.constant(v) for v in x])
    _fill(net)
    data = dde.data.TripleCartesianProd(x, y, x, y)
    model = dde.Model(data, net)
    model.compile("adam", lr=1e-3, metrics=["mean l2 relative error"], verbose=0)
    h, _ = model.train(iterations=5, verbose=0)
    return [net([tf.constant(v) for v in x]), np.sum(h.loss_train[-1])]


def unaligned_deeponet():
    net = dde.nn.DeepONet([3, 6, 4], [1, 6, 4], "tanh", "Glorot normal")
    x = (
        np.sin(np.arange(12.0)).reshape(4, 3).astype(np.float32),
        np.linspace(0, 1, 4)[:, None].astype(np.float32),
    )
    net([tf.constant(v) for v in x])
    _fill(net)
    return net([tf.constant(v) for v in x])


def function_spaces():
    f = dde.data.GRF(length_scale=0.3) if hasattr(dde.data, "GRF") else None
    p = dde.data.PowerSeries(N=3) if hasattr(dde.data, "PowerSeries") else None
    return [
        None if p is None else p.eval_batch(np.ones((2, 3)), np.array([[0.5], [1.0]])),
        f is None,
    ]


def schrodinger():
    def pde(x, y):
        u, v = y[:, 0:1], y[:, 1:2]
        u_t, v_t = dde.grad.jacobian(y, x, i=0, j=1), dde.grad.jacobian(y, x, i=1, j=1)
        u_xx, v_xx = (
            dde.grad.hessian(y, x, component=0, i=0, j=0),
            dde.grad.hessian(y, x, component=1, i=0, j=0),
        )
        return [u_t + 0.5 * v_xx + (u**2 + v**2) * v, v_t - 0.5 * u_xx - (u**2 + v**2) * u]

    geom = dde.geometry.GeometryXTime(
        dde.geometry.Interval(-5, 5), dde.geometry.TimeDomain(0, PI / 2)
    )
    ic = dde.icbc.IC(geom, lambda x: 2 / np.cosh(x[:, 0:1]), lambda _, on: on, component=0)
    data = dde.data.TimePDE(
        geom, pde, [ic], num_domain=20, num_boundary=4, num_initial=10, train_distribution="uniform"
    )
    return _train(data, _net(2, 2))[1]


def gradient_enhanced():
    geom = dde.geometry.Interval(-1, 1)

    def pde(x, y):
        xx = dde.grad.hessian(y, x)
        r = -xx - 2.0
        return [r, dde.grad.jacobian(r, x)]

    data = dde.data.PDE(
        geom,
        pde,
        dde.icbc.DirichletBC(geom, lambda x: 0, lambda x, on: on),
        12,
        2,
        train_distribution="uniform",
    )
    return _train(data, _net())[1]


def metrics_and_losses():
    a, b = np.array([[1.0], [2.0]], np.float32), np.array([[1.1], [1.7]], np.float32)
    return [
        dde.metrics.l2_relative_error(a, b),
        dde.metrics.get("accuracy") is not None,
        dde.losses.get("MSE")(a, b),
        dde.losses.get("softmax cross entropy") is not None,
        dde.metrics.mean_squared_error(a, b),
    ]


def regularised_training():
    net = dde.nn.FNN([1, 6, 1], "tanh", "Glorot uniform", regularization=["l2", 0.1])
    return _train(_poisson(), net, 5)[1]


def anchors_and_exclusions():
    geom = dde.geometry.Interval(-1, 1)
    data = dde.data.PDE(
        geom,
        lambda x, y: dde.grad.hessian(y, x) - 2,
        [],
        10,
        2,
        anchors=np.array([[0.123]]),
        exclusions=np.array([[0.0]]),
        train_distribution="uniform",
    )
    return [data.train_x.shape, 0.123 in np.round(data.train_x, 6)]


def auxiliary_variables():
    geom = dde.geometry.Interval(-1, 1)
    data = dde.data.PDE(
        geom,
        lambda x, y, aux: dde.grad.hessian(y, x) - aux,
        [],
        10,
        2,
        auxiliary_var_function=lambda x: np.sin(x),
        train_distribution="uniform",
    )
    return _train(data, _net(), 5)[1]


def steps_of_two_optimizers():
    data, net = _poisson(), _net()
    model, losses = _train(data, net, 5)
    model.compile("adam", lr=1e-2, verbose=0)
    h, _ = model.train(iterations=3, verbose=0)
    return [losses, np.sum(h.loss_train[-1])]
