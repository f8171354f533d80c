"""Programs after the documentation of tensorflow-probability.

Each function is a program; what it returns is compared with what TensorFlow gave. Numbers that
depend on a sampler's stream are returned as `near(value, tolerance)`.
"""

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from programs import near

tfd, tfb, tfm = tfp.distributions, tfp.bijectors, tfp.mcmc
tfk = tfp.math.psd_kernels
X = np.linspace(-1.0, 1.0, 7).astype(np.float32)


def normal():
    d = tfd.Normal(loc=[0.0, 1.0], scale=[1.0, 2.0])
    s = d.sample(20000, seed=3)
    return [
        d.log_prob(0.5), d.prob(0.5), d.cdf(0.5), d.survival_function(0.5), d.quantile(0.3),
        d.mean(), d.stddev(), d.entropy(), d.batch_shape.as_list(),
        near(tf.reduce_mean(s, 0), 0.1), near(tf.math.reduce_std(s, 0), 0.12),
    ]  # fmt: skip


def continuous_univariate():
    ds = [
        tfd.Gamma(2.0, 3.0), tfd.Beta(2.0, 3.0), tfd.Exponential(1.5), tfd.Laplace(0.1, 2.0),
        tfd.Cauchy(0.0, 1.0), tfd.StudentT(4.0, 0.0, 1.0), tfd.LogNormal(0.1, 0.6),
        tfd.InverseGamma(3.0, 2.0), tfd.Uniform(0.0, 2.0), tfd.Gumbel(0.5, 2.0),
        tfd.Weibull(1.5, 2.0), tfd.Kumaraswamy(2.0, 3.0), tfd.HalfNormal(1.5), tfd.HalfCauchy(0.0, 1.0),
        tfd.Pareto(2.0, 0.3), tfd.Logistic(0.2, 1.0), tfd.Chi2(3.0), tfd.Triangular(0.0, 2.0, 1.0),
        tfd.Moyal(0.1, 0.9), tfd.VonMises(0.3, 2.0), tfd.InverseGaussian(1.0, 2.0),
        tfd.TruncatedNormal(0.0, 1.0, -1.0, 2.0), tfd.GeneralizedNormal(0.0, 1.0, 1.5),
        tfd.JohnsonSU(0.1, 1.2, 0.0, 1.0), tfd.LogitNormal(0.1, 0.7), tfd.PERT(0.0, 0.6, 1.0),
        tfd.SinhArcsinh(0.1, 1.0, 0.2, 0.9), tfd.NormalInverseGaussian(0.0, 1.0, 2.0, 0.5),
        tfd.ExponentiallyModifiedGaussian(0.0, 1.0, 1.0), tfd.LogLogistic(0.3, 0.7),
        tfd.GeneralizedPareto(0.0, 1.0, 0.3), tfd.NoncentralChi2(3.0, 1.2),
    ]  # fmt: skip
    return [d.log_prob(0.6) for d in ds]


def samplers_of_continuous():
    ds = [
        tfd.Gamma(2.0, 3.0), tfd.Beta(2.0, 3.0), tfd.Exponential(1.5), tfd.Laplace(0.1, 2.0),
        tfd.StudentT(8.0, 0.0, 1.0), tfd.LogNormal(0.1, 0.4), tfd.InverseGamma(6.0, 2.0),
        tfd.Gumbel(0.5, 2.0), tfd.Weibull(1.5, 2.0), tfd.HalfNormal(1.5), tfd.Logistic(0.2, 1.0),
        tfd.TruncatedNormal(0.0, 1.0, -1.0, 2.0), tfd.VonMises(0.3, 2.0), tfd.Chi2(3.0),
        tfd.InverseGaussian(1.0, 2.0), tfd.Kumaraswamy(2.0, 3.0),
    ]  # fmt: skip
    out = []
    for k, d in enumerate(ds):
        s = d.sample(20000, seed=[k, 1])
        out += [near(tf.reduce_mean(s), 0.08), near(tf.math.reduce_std(s), 0.12)]
    return out


def discrete():
    ds = [
        tfd.Bernoulli(probs=0.3), tfd.Binomial(5.0, probs=0.4), tfd.Poisson(2.5), tfd.Geometric(probs=0.3),
        tfd.NegativeBinomial(3.0, probs=0.4), tfd.Categorical(probs=[0.2, 0.3, 0.5]),
        tfd.ZeroInflatedNegativeBinomial(total_count=3.0, probs=0.4, inflated_loc_probs=0.2)
        if hasattr(tfd, "ZeroInflatedNegativeBinomial") else tfd.Poisson(1.0),
        tfd.FiniteDiscrete([0.0, 1.0, 4.0], probs=[0.1, 0.4, 0.5]), tfd.Skellam(2.0, 1.0), tfd.Zipf(2.5),
    ]  # fmt: skip
    out = [d.log_prob(1) if isinstance(d, tfd.Categorical) else d.log_prob(1.0) for d in ds]
    for k, d in enumerate(ds[:6]):
        out.append(near(tf.reduce_mean(tf.cast(d.sample(20000, seed=k + 1), tf.float32)), 0.08))
    return out


def multivariate():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)
    tril = np.linalg.cholesky(cov)
    ds = [
        tfd.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]), tfd.MultivariateNormalTriL([0.0, 1.0], tril),
        tfd.MultivariateNormalFullCovariance([0.0, 1.0], cov),
        tfd.MultivariateStudentTLinearOperator(3.0, [0.0, 1.0], tf.linalg.LinearOperatorLowerTriangular(tril)),
        tfd.MultivariateNormalDiagPlusLowRank([0.0, 1.0], [1.0, 1.0], scale_perturb_factor=[[0.3], [0.2]]),
    ]  # fmt: skip
    s = ds[1].sample(20000, seed=1)
    return [
        *[d.log_prob([0.3, 0.4]) for d in ds], ds[1].mean(), ds[1].covariance(), ds[1].entropy(),
        near(tf.reduce_mean(s, 0), 0.1), near(tfp.stats.covariance(s), 0.12),
        tfd.kl_divergence(ds[0], ds[1]),
    ]  # fmt: skip


def simplex_and_matrices():
    w = tfd.WishartTriL(5.0, scale_tril=np.eye(2, dtype=np.float32))
    lkj = tfd.LKJ(3, 1.5)
    m = np.array([[1.0, 0.2, 0.1], [0.2, 1.0, 0.3], [0.1, 0.3, 1.0]], np.float32)
    return [
        tfd.Dirichlet([1.0, 2.0, 3.0]).log_prob([0.2, 0.3, 0.5]), tfd.Dirichlet([1.0, 2.0, 3.0]).mean(),
        tfd.Multinomial(4.0, probs=[0.2, 0.3, 0.5]).log_prob([1.0, 1.0, 2.0]),
        tfd.DirichletMultinomial(4.0, [1.0, 2.0, 3.0]).log_prob([1.0, 1.0, 2.0]),
        w.log_prob([[2.0, 0.3], [0.3, 1.0]]), lkj.log_prob(m), w.mean(),
        tfd.OneHotCategorical(probs=[0.2, 0.8]).log_prob([0.0, 1.0]),
        tfd.RelaxedOneHotCategorical(0.5, logits=[0.1, 0.2]).log_prob([0.4, 0.6]),
        tfd.VonMisesFisher([1.0, 0.0, 0.0], 2.0).log_prob([0.6, 0.8, 0.0]),
        tfd.PlackettLuce([0.2, 0.3, 0.5]).log_prob([2, 0, 1]),
        near(tf.reduce_mean(tfd.Dirichlet([1.0, 2.0, 3.0]).sample(5000, seed=2), 0), 0.05),
        near(tf.reduce_mean(w.sample(4000, seed=2), 0), 0.4),
    ]  # fmt: skip


def mixtures():
    m = tfd.MixtureSameFamily(
        tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([-1.0, 2.0], [0.5, 1.0])
    )
    k = tfd.Mixture(tfd.Categorical(probs=[0.4, 0.6]), [tfd.Normal(0.0, 1.0), tfd.Normal(3.0, 0.5)])
    s = m.sample(20000, seed=1)
    return [
        m.log_prob(X),
        m.mean(),
        m.variance(),
        k.log_prob(X),
        k.mean(),
        m.cdf(0.4),
        near(tf.reduce_mean(s), 0.08),
    ]


def meta_distributions():
    i = tfd.Independent(tfd.Normal(X, 1.0), reinterpreted_batch_ndims=1)
    t = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfb.Softplus())
    q = tfd.QuantizedDistribution(tfd.Normal(2.0, 1.5), low=0.0, high=5.0)
    b = tfd.BatchReshape(tfd.Normal([[0.0, 1.0]], 1.0), [2])
    s = tfd.Sample(tfd.Normal(0.0, 1.0), 3)
    a = tfd.Autoregressive(
        lambda x: tfd.Independent(tfd.Normal(tf.concat([[0.0], x[:-1]], 0), 1.0), 1), tf.zeros(3)
    )
    c = tfd.Blockwise([tfd.Normal(0.0, 1.0), tfd.Gamma(1.0, 1.0)])
    m = tfd.Masked(tfd.Normal([0.0, 1.0], 1.0), [True, False])
    return [
        i.log_prob(X), i.event_shape.as_list(), t.log_prob(X + 2.0), q.log_prob([1.0, 2.0]), b.log_prob([0.1, 0.2]),
        s.log_prob([0.1, 0.2, 0.3]), a.log_prob([0.1, 0.2, 0.3]), c.log_prob([0.3, 0.4]), m.log_prob([0.2, 0.3]),
        tfd.Deterministic([1.0, 2.0]).log_prob([1.0, 3.0]),
    ]  # fmt: skip


def divergences():
    pairs = [
        (tfd.Normal(0.0, 1.0), tfd.Normal(1.0, 2.0)), (tfd.Gamma(2.0, 1.0), tfd.Gamma(3.0, 2.0)),
        (tfd.Beta(2.0, 1.0), tfd.Beta(3.0, 2.0)), (tfd.Bernoulli(0.3), tfd.Bernoulli(0.6)),
        (tfd.Categorical([0.1, 0.2]), tfd.Categorical([0.3, 0.1])), (tfd.Laplace(0.0, 1.0), tfd.Laplace(1.0, 2.0)),
        (tfd.Dirichlet([1.0, 2.0]), tfd.Dirichlet([2.0, 2.0])), (tfd.Exponential(1.0), tfd.Exponential(2.0)),
        (tfd.MultivariateNormalDiag([0.0, 0.0]), tfd.MultivariateNormalDiag([1.0, 0.0], [2.0, 1.0])),
    ]  # fmt: skip
    return [*[tfd.kl_divergence(p, q) for p, q in pairs], pairs[0][0].cross_entropy(pairs[0][1])]


def gradients_of_log_prob():
    loc, scale = tf.Variable(0.3), tf.Variable(1.2)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tfd.Normal(loc, scale).log_prob(X))
    return tape.gradient(y, [loc, scale])


def reparameterized_gradients():
    a = tf.Variable(2.5)
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(tfd.Gamma(a, 1.0).sample(20000, seed=1))
    return [
        near(tape.gradient(y, a), 0.08),
        tfd.Gamma(1.0, 1.0).reparameterization_type == tfd.FULLY_REPARAMETERIZED,
    ]


def in_a_function():
    @tf.function
    def f(x, loc):
        d = tfd.Normal(loc, 2.0)
        return d.log_prob(x), d.mode()

    d = tfd.Normal(tf.Variable(1.0), 2.0)
    g = tf.function(lambda x: d.log_prob(x))
    return [f(X, 0.5), g(X)]


def bijectors():
    bs = [
        tfb.Exp(), tfb.Softplus(), tfb.Sigmoid(), tfb.Tanh(), tfb.Shift(1.0), tfb.Scale(2.0), tfb.Power(2.0),
        tfb.Reciprocal(), tfb.Invert(tfb.Exp()), tfb.Identity(), tfb.Softsign(), tfb.SinhArcsinh(0.1, 1.1),
        tfb.Gumbel() if hasattr(tfb, "Gumbel") else tfb.Identity(), tfb.NormalCDF(), tfb.WeibullCDF(1.0, 2.0), tfb.Log1p(), tfb.Expm1(),
        tfb.Sigmoid(low=-1.0, high=2.0), tfb.LambertWTail(0.0, 1.0, 0.1), tfb.GumbelCDF(0.1, 1.0), tfb.KumaraswamyCDF(2.0, 3.0),
    ]  # fmt: skip
    x = np.array([0.2, 0.45], np.float32)
    out = []
    for b in bs:
        y = b.forward(x)
        out += [y, b.inverse(tf.identity(y)), b.forward_log_det_jacobian(x, event_ndims=0)]
    return out


def structured_bijectors():
    x = np.array([0.1, 0.2, 0.3], np.float32)
    chol = tfb.FillScaleTriL(diag_bijector=tfb.Softplus(), diag_shift=1e-5)
    chain = tfb.Chain([tfb.SoftmaxCentered(), tfb.Shift([0.1, 0.2, 0.3])])
    perm = tfb.Permute([2, 0, 1])
    return [
        chol.forward(x), chol.inverse(chol.forward(x)), chol.forward_log_det_jacobian(x, 1), chain.forward(x),
        chain.forward_log_det_jacobian(x, 1), perm.forward(x), tfb.Reshape([3, 1]).forward(x),
        tfb.Cumsum().forward(x), tfb.Ascending().forward(x), tfb.Ordered().forward(np.sort(x)) if hasattr(tfb, "Ordered") else 0.0,
        tfb.CholeskyOuterProduct().forward([[1.0, 0.0], [0.5, 2.0]]), tfb.CorrelationCholesky().forward(x),
        tfb.ScaleMatvecTriL([[1.0, 0.0], [0.5, 2.0]]).forward([1.0, 2.0]), tfb.Transpose([1, 0]).forward(np.ones((2, 3), np.float32)),
        tfb.Pad().forward(x), tfb.Split(3).forward(x), tfb.JointMap([tfb.Exp(), tfb.Scale(2.0)]).forward([0.1, 0.2]),
        tfb.IteratedSigmoidCentered().forward(x), tfb.FillTriangular().forward(x), tfb.MatrixInverseTriL().forward([[1.0, 0.0], [0.5, 2.0]]),
        tfb.RationalQuadraticSpline([0.5, 1.5], [0.7, 1.3], [1.2], -1.0).forward(0.3),
    ]  # fmt: skip


def flows():
    maf = tfb.MaskedAutoregressiveFlow(
        lambda x: (
            0.1 * tf.cumsum(x, axis=-1, exclusive=True),
            0.2 * tf.cumsum(x, axis=-1, exclusive=True),
        )
    )
    nvp = tfb.RealNVP(
        2,
        shift_and_log_scale_fn=lambda x, n: (
            tf.reduce_sum(x, -1, keepdims=True) * tf.ones(n),
            0.1 * tf.ones(n),
        ),
    )
    x = np.array([[0.1, 0.2, 0.3], [0.5, -0.2, 0.1]], np.float32)
    d = tfd.TransformedDistribution(tfd.Sample(tfd.Normal(0.0, 1.0), 3), maf)
    return [
        maf.forward(x),
        maf.inverse(x),
        maf.forward_log_det_jacobian(x, 1),
        d.log_prob(x),
        nvp.forward(x),
        nvp.inverse(x),
        nvp.forward_log_det_jacobian(x, 1),
    ]


def joint_sequential():
    d = tfd.JointDistributionSequential([
        tfd.Normal(0.0, 1.0), tfd.Gamma(2.0, 1.0), lambda s, m: tfd.Independent(tfd.Normal(tf.stack([m, m + 1.0], -1), s[..., None]), 1),
    ])  # fmt: skip
    s = d.sample(4000, seed=5)
    return [
        d.log_prob([0.1, 1.5, [0.2, 0.3]]),
        near(tf.reduce_mean(s[0]), 0.15),
        d.event_shape[2].as_list(),
        len(d.log_prob_parts([0.1, 1.5, [0.2, 0.3]])),
    ]


def joint_named():
    d = tfd.JointDistributionNamed({"m": tfd.Normal(0.0, 1.0), "x": lambda m: tfd.Normal(m, 0.5)})
    e = tfd.JointDistributionNamedAutoBatched(
        {"m": tfd.Normal(0.0, 1.0), "x": lambda m: tfd.Sample(tfd.Normal(m, 0.5), 3)}
    )
    return [
        d.log_prob(m=0.2, x=0.3),
        d.log_prob_parts({"m": 0.2, "x": 0.3}),
        e.log_prob({"m": 0.2, "x": [0.1, 0.2, 0.3]}),
        sorted(d.sample(seed=1)),
    ]


def joint_coroutine():
    Root = tfd.JointDistributionCoroutine.Root

    def model():
        scale = yield Root(tfd.HalfNormal(1.0, name="scale"))
        yield tfd.Independent(
            tfd.Normal(tf.zeros([3]) + scale[..., None] * 0.0, scale[..., None]), 1, name="x"
        )

    @tfd.JointDistributionCoroutineAutoBatched
    def other():
        a = yield tfd.Normal(0.0, 1.0, name="a")
        yield tfd.Normal(a * tf.ones(2), 1.0, name="b")

    d = tfd.JointDistributionCoroutine(model)
    s = other.sample(3, seed=1)
    pinned = other.experimental_pin(b=[0.1, 0.2])
    return [
        d.log_prob(tf.constant(0.8), X[:3]),
        other.log_prob(0.1, [0.2, 0.3]),
        s.b.shape.as_list(),
        pinned.unnormalized_log_prob(0.3),
    ]


def hmc():
    kernel = tfm.HamiltonianMonteCarlo(
        lambda x: tfd.Normal(1.0, 2.0).log_prob(x), step_size=1.2, num_leapfrog_steps=3
    )

    @tf.function
    def run():
        return tfm.sample_chain(
            800,
            tf.zeros([16]),
            kernel=kernel,
            num_burnin_steps=100,
            trace_fn=lambda _, r: r.is_accepted,
            seed=1,
        )

    s, accepted = run()
    return [
        near(tf.reduce_mean(s), 0.25),
        near(tf.math.reduce_std(s), 0.3),
        near(tf.reduce_mean(tf.cast(accepted, tf.float32)), 0.1),
        s.shape.as_list(),
    ]


def nuts_and_adaptation():
    target = tfd.MultivariateNormalDiag([0.0, 1.0], [1.0, 0.5])
    kernel = tfm.DualAveragingStepSizeAdaptation(
        tfm.NoUTurnSampler(target.log_prob, 0.3), num_adaptation_steps=100
    )

    @tf.function
    def run():
        return tfm.sample_chain(
            300, tf.zeros([8, 2]), kernel=kernel, num_burnin_steps=120, trace_fn=None, seed=2
        )

    s = run()
    return [near(tf.reduce_mean(s, [0, 1]), 0.3), near(tf.math.reduce_std(s, [0, 1]), 0.3)]


def other_kernels():
    f = lambda x: tfd.Normal(1.0, 1.0).log_prob(x)
    out = []
    for kernel in (
        tfm.RandomWalkMetropolis(f), tfm.MetropolisAdjustedLangevinAlgorithm(f, step_size=0.7), tfm.SliceSampler(f, 1.0, 5),
        tfm.UncalibratedLangevin(f, step_size=0.05),
    ):  # fmt: skip
        s = tf.function(
            lambda k=kernel: tfm.sample_chain(
                400, tf.ones([32]), kernel=k, num_burnin_steps=100, trace_fn=None, seed=3
            )
        )()
        out += [near(tf.reduce_mean(s), 0.25), near(tf.math.reduce_std(s), 0.25)]
    return out


def transformed_kernel():
    f = lambda x: tfd.Gamma(3.0, 2.0).log_prob(x)
    kernel = tfm.TransformedTransitionKernel(tfm.HamiltonianMonteCarlo(f, 0.4, 3), tfb.Exp())
    adapt = tfm.SimpleStepSizeAdaptation(kernel, num_adaptation_steps=80)
    s = tf.function(
        lambda: tfm.sample_chain(
            500, tf.ones([16]), kernel=adapt, num_burnin_steps=100, trace_fn=None, seed=4
        )
    )()
    return [near(tf.reduce_mean(s), 0.2), near(tf.math.reduce_std(s), 0.2)]


def replica_exchange():
    target = tfd.MixtureSameFamily(
        tfd.Categorical(probs=[0.5, 0.5]), tfd.Normal([-2.0, 2.0], [0.6, 0.6])
    )
    kernel = tfm.ReplicaExchangeMC(
        target.log_prob,
        tf.constant([1.0, 0.4, 0.15]),
        lambda f: tfm.HamiltonianMonteCarlo(f, 0.6, 3),
    )
    s = tf.function(
        lambda: tfm.sample_chain(
            600, tf.ones([16]), kernel=kernel, num_burnin_steps=100, trace_fn=None, seed=4
        )
    )()
    return [near(tf.reduce_mean(s), 0.5), near(tf.math.reduce_std(s), 0.4)]


def diagnostics():
    x = np.sin(np.arange(400, dtype=np.float32) * 0.7).reshape(100, 4)
    return [
        tfm.potential_scale_reduction(x),
        tfm.effective_sample_size(x),
        tfp.stats.auto_correlation(x, axis=0, max_lags=4),
    ]


def statistics():
    x = np.cos(np.arange(60, dtype=np.float32)).reshape(20, 3)
    return [
        tfp.stats.percentile(x, 30.0), tfp.stats.quantiles(x, 4, axis=0), tfp.stats.covariance(x), tfp.stats.correlation(x),
        tfp.stats.variance(x), tfp.stats.histogram(x, [-1.0, -0.5, 0.0, 0.5, 1.0]), tfp.stats.stddev(x), tfp.stats.cumulative_variance(x[:4]),
        tfp.stats.brier_score([1, 0, 2], x[:3]), tfp.stats.expected_calibration_error(5, logits=x[:6], labels_true=[0, 1, 2, 0, 1, 2]),
        tfp.stats.log_average_probs(x[:3], 0) if hasattr(tfp.stats, "log_average_probs") else 0.0,
    ]  # fmt: skip


def variational_inference():
    target = tfd.Normal(2.0, 0.5)
    q = tfd.Normal(tf.Variable(0.0), tfp.util.TransformedVariable(1.0, tfb.Softplus()))
    losses = tfp.vi.fit_surrogate_posterior(
        target.log_prob, q, optimizer=tfp_adam(0.1), num_steps=150, sample_size=16, seed=1
    )
    return [
        near(q.loc, 0.25),
        near(q.scale, 0.25),
        losses.shape.as_list(),
        len(q.trainable_variables),
    ]


def tfp_adam(rate):
    import tf_keras

    return tf_keras.optimizers.Adam(rate)


def surrogate_posteriors():
    prior = tfd.JointDistributionNamed(
        {"a": tfd.Normal(0.0, 1.0), "b": lambda a: tfd.Normal(a, 1.0)}
    )
    q = tfp.experimental.vi.build_factored_surrogate_posterior(
        event_shape=prior.event_shape_tensor(),
        bijector={"a": tfb.Identity(), "b": tfb.Identity()},
        seed=1,
    )
    pinned = prior.experimental_pin(b=1.0)
    q2 = tfp.experimental.vi.build_affine_surrogate_posterior(
        pinned.event_shape, bijector=pinned.experimental_default_event_space_bijector(), seed=1
    )
    losses = tfp.vi.fit_surrogate_posterior(
        pinned.unnormalized_log_prob,
        q2,
        optimizer=tfp_adam(0.1),
        num_steps=120,
        sample_size=8,
        seed=2,
    )
    return [
        sorted(q.sample(seed=1)),
        len(q.trainable_variables),
        near(tf.reduce_mean(losses[-20:]), 0.6),
        near(tf.reduce_mean(q2.sample(2000, seed=3)["a"]), 0.25),
    ]


def monte_carlo():
    p, q = tfd.Normal(0.0, 1.0), tfd.Normal(0.5, 1.2)
    e = tfp.monte_carlo.expectation(lambda x: x * x, q.sample(20000, seed=1), log_prob=q.log_prob)
    f = tfp.vi.monte_carlo_variational_loss(p.log_prob, q, sample_size=5000, seed=2)
    return [
        near(e, 0.12),
        near(f, 0.06),
        tfp.vi.kl_reverse([0.1, 0.3]),
        tfp.vi.jensen_shannon([0.1, 0.3]),
    ]


def lbfgs():
    target = tf.constant([1.0, -2.0, 0.5])
    f = lambda x: tfp.math.value_and_gradient(
        lambda z: tf.reduce_sum((z - target) ** 2 * [1.0, 2.0, 3.0]), x
    )
    r = tfp.optimizer.lbfgs_minimize(f, initial_position=tf.zeros(3), tolerance=1e-6)
    b = tf.function(lambda: tfp.optimizer.bfgs_minimize(f, initial_position=tf.zeros(3)))()
    return [r.position, r.converged, b.position, b.converged]


def nelder_mead_and_others():
    f = lambda x: tf.reduce_sum((x - [1.0, 2.0]) ** 2, -1)
    nm = tfp.optimizer.nelder_mead_minimize(f, initial_vertex=tf.zeros(2), func_tolerance=1e-8)
    de = tfp.optimizer.differential_evolution_minimize(
        lambda x, y: (x - 1.0) ** 2 + (y - 2.0) ** 2,
        initial_position=(tf.constant(0.0), tf.constant(0.0)),
        population_stddev=2.0,
        seed=1,
    )
    root = tfp.math.find_root_chandrupatla(lambda x: x**3 - 2.0, low=0.0, high=2.0)
    ls = tfp.optimizer.linesearch.hager_zhang(
        lambda t: _value((t - 1.3) ** 2, 2.0 * (t - 1.3), t), initial_step_size=tf.constant(0.1)
    )
    return [
        near(nm.position, 1e-2),
        near(de.position[0], 0.05),
        root.estimated_root,
        near(ls.left.x, 0.5),
    ]


def _value(f, df, x):
    import collections

    kind = collections.namedtuple("V", ["x", "f", "df"])
    return kind(tf.convert_to_tensor(x), tf.convert_to_tensor(f), tf.convert_to_tensor(df))


def minimize():
    x = tf.Variable([0.0, 0.0])
    losses = tfp.math.minimize(
        lambda: tf.reduce_sum((x - [1.0, 2.0]) ** 2), num_steps=60, optimizer=tfp_adam(0.1)
    )
    return [near(losses[-1], 1e-3), near(x, 1e-3)]


def gaussian_process():
    idx = np.linspace(0.0, 1.0, 6)[:, None]
    y = np.sin(6 * idx[:, 0])
    new = np.array([[0.15], [0.5]])
    k = tfk.ExponentiatedQuadratic(np.float64(1.2), np.float64(0.3))
    gp = tfd.GaussianProcess(k, idx, observation_noise_variance=np.float64(0.01))
    gprm = tfd.GaussianProcessRegressionModel(
        k, new, idx, y, observation_noise_variance=np.float64(0.01)
    )
    return [
        gp.log_prob(y),
        gp.mean(),
        gprm.mean(),
        gprm.stddev(),
        gprm.covariance(),
        gp.covariance(),
    ]


def kernels():
    a, b = np.linspace(0.0, 1.0, 6).reshape(3, 2), np.linspace(-1.0, 1.0, 4).reshape(2, 2)
    one = np.float64(1.0)
    ks = [
        tfk.ExponentiatedQuadratic(one, one), tfk.MaternOneHalf(one, one), tfk.MaternThreeHalves(one, one), tfk.MaternFiveHalves(one, one),
        tfk.RationalQuadratic(one, one, one), tfk.Linear(one, one), tfk.Polynomial(one, one, np.float64(2.0)), tfk.ExpSinSquared(one, one, one),
        tfk.Constant(np.float64(0.5)), tfk.Parabolic(one, one), tfk.GammaExponential(one, one, power=one),
    ]  # fmt: skip
    both = ks[0] + ks[3] * ks[4]
    return [
        *[k.matrix(a, b) for k in ks],
        both.matrix(a, b),
        ks[0].apply(a, a),
        tfk.FeatureScaled(ks[0], np.array([1.0, 2.0])).matrix(a, b),
    ]


def fit_gaussian_process():
    idx = np.linspace(0.0, 1.0, 12)[:, None]
    y = np.sin(6 * idx[:, 0])
    amp = tfp.util.TransformedVariable(np.float64(1.0), tfb.Softplus(), name="a")
    scale = tfp.util.TransformedVariable(np.float64(0.5), tfb.Softplus(), name="s")
    gp = tfd.GaussianProcess(
        tfk.ExponentiatedQuadratic(amp, scale), idx, observation_noise_variance=np.float64(0.05)
    )
    optimizer = tfp_adam(0.05)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = -gp.log_prob(y)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, gp.trainable_variables), gp.trainable_variables)
        )
        return loss

    losses = [step() for _ in range(20)]
    return [losses[0], losses[-1], amp, scale]


def deferred_variables():
    v = tfp.util.TransformedVariable(2.0, tfb.Exp())
    d = tfp.util.DeferredTensor(
        v.pretransformed_input if hasattr(v, "pretransformed_input") else tf.Variable(0.7),
        tf.square,
    )
    v.assign(3.0)
    return [v + 1.0, tf.sqrt(v), d * 2.0, v.trainable_variables[0], tf.convert_to_tensor(v)]


def special_functions():
    x = np.array([0.3, 0.8, 1.5], np.float64)
    return [
        tfp.math.log_sub_exp(x + 1, x), tfp.math.softplus_inverse(x), tfp.math.lbeta(x, x + 1), tfp.math.betainc(x, x + 1, x / 2),
        tfp.math.erfcx(x), tfp.math.lambertw(x), tfp.math.bessel_ive(0.5, x), tfp.math.owens_t(x, x), tfp.math.log1mexp(x),
        tfp.math.log_gamma_correction(x + 9), tfp.math.igammainv(x, np.float64(0.4)), tfp.math.smootherstep(x), tfp.math.sqrt1pm1(x),
        tfp.math.log_cosh(x), tfp.math.reduce_logmeanexp(x), tfp.math.clip_by_value_preserve_gradient(x, 0.5, 1.0), tfp.math.logerfc(x), tfp.math.betaincinv(x, x + 1, np.float64(0.3)), tfp.math.log_bessel_kve(np.float64(0.5), x),
    ]  # fmt: skip


def linear_algebra():
    m = np.array([[2.0, 0.5, 0.1], [0.5, 1.5, 0.2], [0.1, 0.2, 1.0]], np.float32)
    lu, p = tf.linalg.lu(m)
    return [
        tfp.math.pivoted_cholesky(m, 2), tfp.math.lu_matrix_inverse(lu, p), tfp.math.fill_triangular(np.arange(6.0, dtype=np.float32)), tfp.math.fill_triangular_inverse(m),
        tfp.math.cholesky_update(np.linalg.cholesky(m), np.array([0.1, 0.2, 0.3], np.float32)), 0.0,
        tfp.math.sparse_or_dense_matmul(m, m), tfp.math.lu_solve(lu, p, m), tfp.math.hpsd_logdet(m),
    ]  # fmt: skip


def interpolation_and_ode():
    y = np.array([0.0, 1.0, 4.0, 9.0])
    grid = tfp.math.interp_regular_1d_grid(np.array([0.5, 1.7]), 0.0, 3.0, y)
    two = tfp.math.batch_interp_regular_nd_grid(
        np.array([[0.5, 0.5]]), [0.0, 0.0], [1.0, 1.0], np.array([[0.0, 1.0], [2.0, 3.0]]), axis=-2
    )
    r = tfp.math.ode.DormandPrince(rtol=1e-5, atol=1e-8).solve(
        lambda t, y: -0.5 * y, 0.0, tf.constant([1.0, 2.0], tf.float64), solution_times=[1.0, 2.0]
    )
    return [grid, two, near(r.states, 1e-4)]


def value_and_gradient():
    f = lambda x, y: tf.reduce_sum(x * x * y)
    v, g = tfp.math.value_and_gradient(f, [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])])
    return [v, g]


def scan_associative():
    x = tf.range(1.0, 9.0)
    return [
        tfp.math.scan_associative(lambda a, b: a + b, x),
        tfp.math.scan_associative(lambda a, b: a * b, x[:5]),
    ]


def hidden_markov():
    m = tfd.HiddenMarkovModel(
        tfd.Categorical(probs=[0.8, 0.2]),
        tfd.Categorical(probs=[[0.7, 0.3], [0.2, 0.8]]),
        tfd.Normal([0.0, 15.0], [5.0, 10.0]),
        7,
    )
    t = np.array([-2.0, 0.0, 2.0, 4.0, 6.0, 8.0, 10.0], np.float32)
    return [
        m.log_prob(t),
        m.mean(),
        m.posterior_marginals(t).probs_parameter(),
        m.posterior_mode(t),
    ]


def markov_and_state_space():
    ssm = tfd.LinearGaussianStateSpaceModel(
        5,
        [[1.0]],
        tfd.MultivariateNormalDiag(scale_diag=[0.5]),
        [[1.0]],
        tfd.MultivariateNormalDiag(scale_diag=[0.3]),
        tfd.MultivariateNormalDiag(scale_diag=[1.0]),
    )
    y = np.array([[0.1], [0.4], [0.2], [0.8], [1.0]], np.float32)
    means, covs = ssm.posterior_marginals(y)
    chain = tfd.MarkovChain(tfd.Normal(0.0, 1.0), lambda t, x: tfd.Normal(x, 0.5), 4)
    return [
        ssm.log_prob(y),
        means,
        covs,
        ssm.forward_filter(y)[0],
        chain.log_prob([0.1, 0.2, 0.3, 0.4]),
    ]


def structural_time_series():
    y = (np.sin(np.arange(24) * 0.5) + np.arange(24) * 0.1).astype(np.float32)
    trend = tfp.sts.LocalLinearTrend(observed_time_series=y)
    season = tfp.sts.Seasonal(num_seasons=4, observed_time_series=y)
    model = tfp.sts.Sum([trend, season], observed_time_series=y)
    ssm = model.make_state_space_model(24, param_vals=[0.3, 0.2, 0.1, 0.2])
    return [[p.name for p in model.parameters], near(ssm.log_prob(y[:, None]), 0.5)]


def generalized_linear_models():
    x = np.stack([np.ones(30), np.linspace(-1, 1, 30)], 1)
    y = (np.sin(np.arange(30) * 7.0) + x[:, 1] * 2 > 0).astype(np.float64)
    coef, _, converged, n = tfp.glm.fit(x, y, tfp.glm.Bernoulli())
    p, _, c2, _ = tfp.glm.fit(x, np.round(np.exp(x[:, 1])), tfp.glm.Poisson())
    return [coef, converged, p, c2, tfp.glm.Normal()(tf.constant([0.5]))]


def layers():
    import tf_keras

    tf_keras.utils.set_random_seed(1)
    model = tf_keras.Sequential(
        [
            tf_keras.layers.Dense(2, input_shape=(3,)),
            tfp.layers.DistributionLambda(
                lambda t: tfd.Normal(t[..., :1], tf.nn.softplus(t[..., 1:]))
            ),
        ]
    )
    model.compile(optimizer="adam", loss=lambda y, d: -d.log_prob(y))
    x = np.ones((8, 3), np.float32)
    h = model.fit(x, x[:, :1], epochs=2, verbose=0)
    flip = tfp.layers.DenseFlipout(4)
    return [
        len(h.history["loss"]),
        isinstance(model(x), tfd.Distribution),
        flip(x).shape.as_list(),
        len(flip.losses),
        tfp.layers.IndependentNormal(2)(np.ones((3, 4), np.float32)).mean(),
    ]


def samples_with_seeds():
    d = tfd.Normal(0.0, 1.0)
    a, b = d.sample(3, seed=[1, 2]), d.sample(3, seed=[1, 2])
    s = tfp.random.split_seed([1, 2], n=3)
    sanitized = tfp.random.sanitize_seed(42)
    return [
        bool(tf.reduce_all(a == b)),
        len(s),
        np.shape(sanitized),
        near(tf.reduce_mean(tfp.random.rademacher([4000], seed=1)), 0.1),
    ]


def importance_and_smc():
    target = lambda x: tfd.Normal(1.0, 1.0).log_prob(x)
    prior = tfd.Normal(0.0, 3.0)
    n, states, _ = tfp.experimental.mcmc.sample_sequential_monte_carlo(
        prior.log_prob, lambda x: target(x) - prior.log_prob(x), prior.sample(512, seed=1),
        make_kernel_fn=lambda f, *a, **k: tfm.RandomWalkMetropolis(f), max_num_steps=20, seed=3,
    )[:3]  # fmt: skip
    return [near(tf.reduce_mean(states), 0.4)]


def copies_and_parameters():
    d = tfd.Normal(0.0, 1.0)
    e = d.copy(scale=2.0)
    return [
        e.log_prob(0.4),
        sorted(d.parameters),
        d[..., None].batch_shape.as_list(),
        str(tfd.Normal([0.0], 1.0)),
        repr(tfb.Exp()),
        tfd.Normal.parameter_properties()["scale"].event_ndims,
        [
            v.shape.as_list()
            for v in tf.nest.flatten(tfd.Normal(tf.zeros(2), 1.0), expand_composites=True)
        ],
    ]
