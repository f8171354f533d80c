"""Datasets for several replicas: `DistributedDataset` and its iterator.

How elements are divided is in `splitting.py`; this module makes the pipelines, checks what they are
made of, and gives them the faces that programs and functions see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.errors import at_site, describe
from wengert.core.resources import Resource
from wengert.core.tensor import Tensor
from wengert.data import dataset_arguments
from wengert.data.dataset import Dataset
from wengert.data.graph_iterators import bound, not_in_python, started
from wengert.data.iterator import OwnedIterator
from wengert.data.iterator_specs import DatasetSpec, IteratorSpec
from wengert.data.ordering import WithOptions
from wengert.data.parallel import Prefetch
from wengert.data.plan import Plan
from wengert.distribute.input_options import InputContext, InputOptions, InputReplicationMode
from wengert.distribute.splitting import Beside, Deal, Split
from wengert.graph.builder import building

if TYPE_CHECKING:
    from wengert.data.dataset_arguments import DatasetSignature
    from wengert.data.graph_iterators import TracedIterator


class DistributedIterator(OwnedIterator):
    """An iteration over a distributed dataset: each element has a value for every replica.

    `strategy.run` takes an element apart. In a function `get_next`, `next` and
    `get_next_as_optional` work as they do outside.
    """

    @property
    def _type_spec(self) -> IteratorSpec:
        return DistributedIteratorSpec(self.element_spec)


class DistributedIteratorSpec(IteratorSpec):
    """Describes a `tf.distribute.DistributedIterator` by the spec of its elements."""

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return DistributedIterator


class DistributedDatasetSpec(DatasetSpec):
    """Describes a `tf.distribute.DistributedDataset` by the spec of its elements."""

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return DistributedDataset

    def __repr__(self) -> str:
        return f"DistributedDatasetSpec({self._element_spec!r})"


class DistributedDataset(Resource):
    """Batches for the replicas of a strategy, which `experimental_distribute_dataset` makes.

    >>> strategy = tf.distribute.MirroredStrategy()
    >>> rows = tf.data.Dataset.range(6).batch(4)
    >>> for x in strategy.experimental_distribute_dataset(rows):
    ...     print(strategy.experimental_local_results(x))
    (<tf.Tensor: shape=(4,), dtype=int64, numpy=array([0, 1, 2, 3])>,)
    (<tf.Tensor: shape=(2,), dtype=int64, numpy=array([4, 5])>,)
    """

    _what = "a distributed dataset"
    _remedy = "Distribute the dataset in the process that uses it."

    def __init__(self, plan: Plan) -> None:
        if not isinstance(plan, Plan):
            text = "DistributedDataset: use strategy.experimental_distribute_dataset to make one."
            raise at_site(TypeError(text))
        self._plan = plan
        self._number: Any = None

    def __tf_flatten__(self) -> tuple[DatasetSignature, list[Tensor]]:
        whole: Any = self
        return dataset_arguments.flatten_dataset(whole, bound)

    @classmethod
    def __tf_unflatten__(cls, rest: DatasetSignature, parts: list[Tensor]) -> DistributedDataset:
        return dataset_arguments.unflatten_dataset(cls, rest, parts)

    @property
    def element_spec(self) -> Any:
        """The spec of the elements: of each replica's part, side by side."""
        return self._plan.spec

    @property
    def _type_spec(self) -> DistributedDatasetSpec:
        return DistributedDatasetSpec(self.element_spec)

    @property
    def cardinality(self) -> Tensor:
        """The number of elements, as `tf.data.Dataset.cardinality` gives it."""
        return wrap(np.array(self._plan.cardinality(), np.int64))

    def __iter__(self) -> DistributedIterator:
        if building() is not None:
            raise at_site(not_in_python("distributed dataset"))
        return DistributedIterator(self._plan)

    def traced_steps(self) -> TracedIterator:
        """The iteration of a loop in a converted function."""
        whole: Any = self
        return started(whole, DistributedIterator)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """The last state of `state = reduce_func(state, element)` over all elements."""
        return Dataset(self._plan).reduce(initial_state, reduce_func)

    def __repr__(self) -> str:
        spec = self._plan.spec if self._plan.spec_known else "..."
        return f"<DistributedDataset element_spec={spec}>"


def distribute_dataset(dataset: Any, replicas: int, options: InputOptions | None) -> Any:
    """The global batches of a dataset, split among replicas."""
    name = "experimental_distribute_dataset"
    if isinstance(dataset, DistributedDataset):
        text = f"{name}: the dataset is distributed already. Iterate over it."
        raise at_site(ValueError(text))
    if not isinstance(dataset, Dataset):
        text = f"{name}: a tf.data.Dataset is needed; got {describe(dataset)}."
        raise at_site(TypeError(f"{text} Make one with from_tensor_slices."))
    options = options or InputOptions()
    if options.experimental_replication_mode is InputReplicationMode.PER_REPLICA:
        text = f"{name}: one dataset is split among all replicas. For a dataset of each replica use"
        raise at_site(NotImplementedError(f"{text} distribute_datasets_from_function."))
    plan = dataset._plan if replicas == 1 else Split(dataset._plan, replicas)
    return DistributedDataset(_ahead(plan, options))


def datasets_from_function(
    dataset_fn: Callable[[InputContext], Any], replicas: int, options: InputOptions | None
) -> Any:
    """The datasets that a function makes: of batches of a replica, taken in turn or one by one."""
    name = "distribute_datasets_from_function"
    options = options or InputOptions()
    each = options.experimental_replication_mode is InputReplicationMode.PER_REPLICA
    if options.experimental_place_dataset_on_device and not each:
        text = (
            f"{name}: experimental_place_dataset_on_device needs InputReplicationMode.PER_REPLICA"
        )
        raise at_site(ValueError(f"{text}. Set both, or leave it out."))
    if not callable(dataset_fn):
        text = f"{name}: `dataset_fn` is a function of a tf.distribute.InputContext"
        raise at_site(TypeError(f"{text}; got {describe(dataset_fn)}."))
    if each:
        contexts = [InputContext(replicas, k, replicas) for k in range(replicas)]
    else:
        contexts = [InputContext(1, 0, replicas)]
    plans = [_made(name, dataset_fn(context)) for context in contexts]
    if replicas == 1:
        return DistributedDataset(_ahead(plans[0], options))
    plan = Beside(*plans) if each else Deal(plans[0], replicas)
    return DistributedDataset(_ahead(plan, options))


def _made(name: str, dataset: Any) -> Plan:
    if not isinstance(dataset, Dataset):
        text = f"{name}: `dataset_fn` must return a tf.data.Dataset; got {describe(dataset)}."
        raise at_site(TypeError(text))
    return dataset._plan


def _ahead(plan: Plan, options: InputOptions) -> Plan:
    """The same elements, made while a step runs, unless the program does that itself."""
    inner = plan.input if isinstance(plan, Split | Deal) else plan
    while isinstance(inner, WithOptions):
        inner = inner.input
    if isinstance(inner, Prefetch) or not options.experimental_fetch_to_device:
        return plan
    return Prefetch(plan, max(1, options.experimental_per_replica_buffer_size))
