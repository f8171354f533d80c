"""`ExponentialMovingAverage`: a slowly following copy of each variable."""

from __future__ import annotations

from typing import Any

from wengert.ops.declare import Variable, at_site, describe, require


class ExponentialMovingAverage:
    """Keeps averages of variables: `average -= (1 - decay) * (average - variable)` at each `apply`.

    With `num_updates`, the decay is at most `(1 + num_updates) / (10 + num_updates)`, so that early
    averages follow faster.

    >>> w = tf.Variable(1.0)
    >>> ema = tf.train.ExponentialMovingAverage(decay=0.9)
    >>> ema.apply([w])
    >>> _ = w.assign(2.0)
    >>> ema.apply([w])
    >>> ema.average(w).numpy()
    np.float32(1.1)
    """

    def __init__(
        self,
        decay: float,
        num_updates: int | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = (
            zero_debias  # for averages of tensors, which there are not in TensorFlow 2
        )
        self._name = name
        self._averages: dict[Any, Variable] = {}

    @property
    def name(self) -> str:
        """The name, with which those of the averages end."""
        return self._name

    def apply(self, var_list: Any = None) -> None:
        """Moves the average of each variable towards its value; the first time, makes it."""
        if isinstance(var_list, Variable) or not hasattr(var_list or (), "__iter__"):
            words = "ExponentialMovingAverage: `var_list` must be a list of variables"
            raise at_site(TypeError(f"{words}; got {describe(var_list)}."))
        variables = list(var_list or ())
        for v in variables:
            require(
                isinstance(v, Variable),
                "ExponentialMovingAverage",
                "variables are averaged",
                v,
                kind=TypeError,
            )
            require(
                v.dtype.is_floating,
                "ExponentialMovingAverage",
                "the variables must be of a float type",
                v,
                kind=TypeError,
            )
        for v in variables:
            self._move(v)

    def _move(self, v: Variable) -> None:
        from wengert.ops.cast import cast
        from wengert.ops.select import minimum

        average = self._averages.get(v.ref())
        if average is None:
            name = f"{v.name.partition(':')[0]}/{self._name}"
            average = self._averages[v.ref()] = Variable(v, trainable=False, name=name)
        decay = cast(self._decay, v.dtype)
        if self._num_updates is not None:
            count = cast(self._num_updates, v.dtype)
            decay = minimum(decay, (count + 1) / (count + 10))
        average.assign_sub((average - v) * (1 - decay))

    def average(self, var: Variable) -> Variable | None:
        """The variable that holds the average of `var`, or `None` if there is none."""
        return self._averages.get(var.ref())

    def average_name(self, var: Variable) -> str:
        """The name under which the average of `var` is, or would be, kept."""
        result = self.average(var)
        full = var.name.partition(":")[0] + f"/{self._name}" if result is None else result.name
        return full.partition(":")[0]

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Variable]:
        """The variables by the names of their averages."""
        return {self.average_name(v): v for v in moving_avg_variables or ()}
