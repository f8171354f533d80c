"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.core.errors import AbortedError as AbortedError
from wengert.core.errors import AlreadyExistsError as AlreadyExistsError
from wengert.core.errors import CancelledError as CancelledError
from wengert.core.errors import DataLossError as DataLossError
from wengert.core.errors import DeadlineExceededError as DeadlineExceededError
from wengert.core.errors import FailedPreconditionError as FailedPreconditionError
from wengert.core.errors import InternalError as InternalError
from wengert.core.errors import InvalidArgumentError as InvalidArgumentError
from wengert.core.errors import NotFoundError as NotFoundError
from wengert.core.errors import OperatorNotAllowedInGraphError as OperatorNotAllowedInGraphError
from wengert.core.errors import OpError as OpError
from wengert.core.errors import OutOfRangeError as OutOfRangeError
from wengert.core.errors import PermissionDeniedError as PermissionDeniedError
from wengert.core.errors import ResourceExhaustedError as ResourceExhaustedError
from wengert.core.errors import UnauthenticatedError as UnauthenticatedError
from wengert.core.errors import UnavailableError as UnavailableError
from wengert.core.errors import UnimplementedError as UnimplementedError
from wengert.core.errors import UnknownError as UnknownError
