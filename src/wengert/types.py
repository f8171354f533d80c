"""The names of `tf.types`: what annotations and `isinstance` ask for."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.core.tensor import Value as _Value
from wengert.functions.concrete import ConcreteFunction as _ConcreteFunction
from wengert.functions.function import Function as _Function
from wengert.functions.tracing_types import SupportsTracingProtocol as _SupportsTracingProtocol
from wengert.functions.tracing_types import TraceType as _TraceType

experimental = _Namespace(
    AtomicFunction=_ConcreteFunction,
    Callable=(_Function, _ConcreteFunction),
    ConcreteFunction=_ConcreteFunction,
    GenericFunction=_Function,
    PolymorphicFunction=_Function,
    SupportsTracingProtocol=_SupportsTracingProtocol,
    TensorLike=_Value,
    TraceType=_TraceType,
)

__getattr__, __dir__ = _namespace("tf.types", globals())
