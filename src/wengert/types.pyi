"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.core.tensor import Value as _Value
from wengert.functions.concrete import ConcreteFunction as _ConcreteFunction
from wengert.functions.function import Function as _Function
from wengert.functions.tracing_types import SupportsTracingProtocol as _SupportsTracingProtocol
from wengert.functions.tracing_types import TraceType as _TraceType

class experimental:
    AtomicFunction = _ConcreteFunction
    Callable: tuple
    ConcreteFunction = _ConcreteFunction
    GenericFunction = _Function
    PolymorphicFunction = _Function
    SupportsTracingProtocol = _SupportsTracingProtocol
    TensorLike = _Value
    TraceType = _TraceType
