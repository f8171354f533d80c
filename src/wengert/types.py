"""The names of `tf.types`: what annotations and `isinstance` ask for."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing import missing as _missing
from wengert.core.tensor import Value as _Value
from wengert.functions.concrete import ConcreteFunction as _ConcreteFunction
from wengert.functions.function import Function as _Function

experimental = _Namespace(
    Callable=(_Function, _ConcreteFunction),
    ConcreteFunction=_ConcreteFunction,
    GenericFunction=_Function,
    PolymorphicFunction=_Function,
    TensorLike=_Value,
)

__getattr__ = _missing("tf.types", globals())
