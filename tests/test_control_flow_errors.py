"""What branches, loops, maps and arrays say to bad input: the rule, the remedy, the user's line.

Each case is a function on one line; the error must have the pinned text and name that line.
"""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import wengert as tf
from wengert.core.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError

c = tf.constant
FLAG, ONE = tf.Variable(True), tf.Variable(1)
X = c([[1.0, 2.0], [3.0, 4.0]])


def flag() -> Any:
    return tf.equal(FLAG, True)


def array(size: Any = 2, **options: Any) -> Any:
    return tf.TensorArray(tf.float32, size, **options)


def few(i: Any, *rest: Any) -> Any:
    return i < 3


Case = tuple[Callable[[], Any], type[Exception], str]

# Said alike by eager code and by functions.
ALIKE: list[Case] = [
    (lambda: tf.cond(flag(), 1, lambda: 2), TypeError, "cond: `true_fn` must be a function; got 1."),
    (lambda: tf.cond(flag(), lambda: 1), TypeError, "cond: `false_fn` must be a function; got None."),
    (lambda: tf.switch_case(ONE * 1, []), ValueError, "switch_case: `branch_fns` must hold at least one function."),
    (lambda: tf.switch_case(ONE * 1, {0: int, 2: int}), ValueError, "switch_case: branches are numbered from 0 to 1, each number once; got [0, 2]."),
    (lambda: tf.switch_case(ONE * 1, {"a": int}), TypeError, "switch_case: `branch_fns` must hold functions, or pairs of a whole number and a function; got ('a', <class 'int'>)."),
    (lambda: tf.switch_case(tf.cast(ONE, tf.float32), [int]), TypeError, "switch_case: the index must be a whole number; got float32[]."),
    (lambda: tf.switch_case(tf.stack([ONE * 1]), [int]), InvalidArgumentError, "switch_case: the index must be a scalar; got int32[1]."),
    (lambda: tf.case(3), TypeError, "case: `pred_fn_pairs` must be a list of pairs (condition, function); got 3."),
    (lambda: tf.case([int]), TypeError, "case: a pair (condition, function) was expected; got <class 'int'>."),
    (lambda: tf.case([(ONE * 1, int)]), TypeError, "case: a condition must be a boolean; got int32[]. Compare it."),
    (lambda: tf.case([]), ValueError, "case: give at least one pair or a `default`."),
    (lambda: tf.case([(tf.logical_not(flag()), int)]), InvalidArgumentError, "case: no condition holds, and there is no `default`."),
    (lambda: tf.case([(flag(), int), (flag(), int)], int, exclusive=True), InvalidArgumentError, "case: more than one condition holds (`exclusive`)."),
    (lambda: tf.while_loop(3, int, [c(0)]), TypeError, "while_loop: `cond` must be a function; got 3."),
    (lambda: tf.while_loop(int, int, []), ValueError, "while_loop: give at least one loop variable, in a list."),
    (lambda: tf.while_loop(few, lambda i: (i, i), (c(0),)), ValueError, "while_loop: the body must return the structure of the loop variables; they are (int32[],), it returned (int32[], int32[])."),
    (lambda: tf.while_loop(few, lambda i: (i + 1,), (0,), parallel_iterations=0), TypeError, "while_loop: `parallel_iterations` must be a positive number."),
    (lambda: tf.while_loop(few, lambda i: (i + 1,), (0,), maximum_iterations=2.5), TypeError, "while_loop: `maximum_iterations` must be a whole number; got float32[]."),
    (lambda: tf.while_loop(few, lambda i: (i + 1,), (0,), maximum_iterations=[1, 2]), ValueError, "while_loop: `maximum_iterations` must be a scalar; got int32[2]."),
    (lambda: tf.map_fn(3, X), TypeError, "map_fn: `fn` must be a function; got 3."),
    (lambda: tf.map_fn(abs, c(1.0)), ValueError, "map_fn: `elems` must have rows; got float32[]."),
    (lambda: tf.map_fn(abs, []), ValueError, "map_fn: `elems` holds no tensors."),
    (lambda: tf.map_fn(lambda r: r[0], (X, X[:1])), ValueError, "map_fn: all of `elems` must have the same number of rows; there are 1 and 2."),
    (lambda: tf.map_fn(lambda r: r, X, fn_output_signature=tf.int32), InvalidArgumentError, "map_fn: `fn_output_signature` asks for int32; got float32[2]. Cast it, or ask for that."),
    (lambda: tf.map_fn(lambda r: r, X, fn_output_signature=tf.TensorSpec([3])), ValueError, "map_fn: `fn_output_signature` asks for shape (3,); got float32[2]."),
    (lambda: tf.scan(lambda a, r: (a, a), X), ValueError, "scan: `fn` must return the structure of the state, float32[2]; it returned (float32[2], float32[2])."),
    (lambda: tf.ones([2]) + array(element_shape=[3]).write(0, [1.0, 2.0]).stack(), ValueError, "TensorArray.write: all elements must have one shape, (3,); got float32[2]. Pad it, or make the array with infer_shape=False."),
    (lambda: array().write(0, c(1)), InvalidArgumentError, "TensorArray: the elements are float32; got int32[]. Cast the value."),
    (lambda: array().write(1.5, 1.0), TypeError, "TensorArray.write: the index must be a whole number; got float32[]."),
    (lambda: tf.TensorArray(tf.float32), ValueError, "TensorArray: `size` must be given; 0 for one that grows."),
    (lambda: array().unstack(1.0), InvalidArgumentError, "TensorArray.unstack: `value` must have rows; got float32[]."),
    (lambda: array().read(0), InvalidArgumentError, "TensorArray: element 0 was never written, and no shape is known for it. Write it first, and keep what `write` returns (`a = a.write(i, x)`), or give `element_shape`."),
    (lambda: array().write(0, 1.0).write(1, 1.0).concat(), InvalidArgumentError, "TensorArray.concat: the elements must have an axis to join them along. Use stack()."),
    (lambda: array().split(c([1.0, 2.0, 3.0]), [1, 3]), InvalidArgumentError, "TensorArray.split: the lengths must add up to the 3 rows of `value`; got [1, 3]."),
]  # fmt: skip

EAGER: list[Case] = [
    (lambda: array().write(2, 1.0), OutOfRangeError, "TensorArray.write: index 2 is outside [0, 2). Make it larger, or with dynamic_size=True."),
    (lambda: array().read(-1), OutOfRangeError, "TensorArray.read: index -1 is outside [0, 2). Make it larger, or with dynamic_size=True."),
    (lambda: (lambda a: (a.read(0), a.read(0)))(array().write(0, 1.0)), InvalidArgumentError, "TensorArray.read: element 0 was cleared by an earlier read. Make the array with clear_after_read=False."),
    (lambda: array().unstack([1.0, 2.0, 3.0]), InvalidArgumentError, "TensorArray.unstack: 3 rows do not fit an array of 2. Make it larger, or with dynamic_size=True."),
    (lambda: tf.map_fn(tf.range, c([1, 2])), InvalidArgumentError, "map_fn: all results must have one shape; got int32[1] and int32[2]. Pad them."),
    (lambda: tf.scan(lambda a, r: tf.concat([a, r], 0), X), InvalidArgumentError, "scan: a state must keep its shape and dtype; got float32[2] and float32[4]. Give the initializer in that form."),
    (lambda: tf.foldl(lambda a, r: a, X[:0]), OutOfRangeError, "foldl: without `initializer` at least one row is needed."),
]  # fmt: skip

TRACED: list[Case] = [
    (lambda: tf.cond(tf.stack([flag(), flag()]), lambda: 1, lambda: 2), InvalidArgumentError, "cond: a condition must be a scalar; got bool[2]. Reduce it, or use tf.where."),
    (lambda: tf.cond(flag(), lambda: (1, 2), lambda: {"a": 1.0}), TypeError, "cond: all branches must return the same structure; false_fn gives {'a': float32[]}, true_fn gives (int32[], int32[])."),
    (lambda: tf.cond(flag(), lambda: 1, lambda: 2.0), TypeError, "cond: result 0 must have the same dtype in all branches; false_fn gives float32[], true_fn gives int32[]. Cast one."),
    (lambda: tf.switch_case(ONE * 1, [lambda: 1, lambda: None]), TypeError, "switch_case: all branches must return the same structure; branch 0 gives int32[], branch 1 gives None."),
    (lambda: tf.while_loop(few, lambda i, s: (i + 1, tf.cast(s, tf.int32)), (0, 1.0)), TypeError, "while_loop: loop variable 1 changes its dtype: before float32[], after int32[]. Cast it in the body."),
    (lambda: tf.while_loop(few, lambda i, s: (i + 1, tf.concat([s, s], 0)), (0, [1.0])), ValueError, "while_loop: the body must return the structure of the loop variables; they are (0, [1.0]), it returned (int32[], float32[2])."),
    (lambda: tf.while_loop(few, lambda i, s: (i + 1, tf.concat([s, s], 0)), (0, c([1.0]))), ValueError, "while_loop: loop variable 1 changes its shape: before float32[1], after float32[2]. Give `shape_invariants` with None where sizes vary."),
    (lambda: tf.while_loop(few, lambda i: (i + 1,), (0,), shape_invariants=[tf.TensorShape([]), tf.TensorShape([])]), ValueError, "while_loop: `shape_invariants` must match the 1 loop variables; got 2."),
    (lambda: tf.while_loop(few, lambda i: (i + 1,), (0,), shape_invariants=[tf.TensorShape([2])]), ValueError, "while_loop: a start of shape () does not fit its shape invariant (2,)."),
    (lambda: tf.while_loop(lambda i: i, lambda i: (i - 1,), [c(3)]), TypeError, "while_loop: `cond` must return one boolean; got int32[]. Compare it."),
    (lambda: tf.while_loop(lambda i: None, lambda i: (i - 1,), [c(3)]), TypeError, "while_loop: `cond` must return one boolean; got None."),
    (lambda: tf.while_loop(lambda i: i < [3, 4], lambda i: (i - 1,), [c(3)]), InvalidArgumentError, "while_loop: what `cond` returns must be a scalar; got bool[2]. Reduce it, or use tf.where."),
    (lambda: tf.scan(lambda a, r: tf.concat([a, r], 0), X), ValueError, "scan: state 0 changes its shape: before float32[2], after float32[4]. Give the initializer in that form."),
    (lambda: tf.foldr(lambda a, r: tf.cast(a, tf.int32), X), TypeError, "foldr: state 0 changes its dtype: before float32[2], after int32[2]. Cast it in the body."),
    (lambda: tf.foldl(lambda a, r: a, X[:0]), InvalidArgumentError, "foldl: without `initializer` at least one row is needed."),
    (lambda: array().write(ONE + 1, 1.0).stack(), InvalidArgumentError, "TensorArray.write: index 2 is outside [0, 2). Make it larger, or with dynamic_size=True."),
    (lambda: array(element_shape=[]).read(ONE - 2), InvalidArgumentError, "TensorArray.read: index -1 is outside [0, 2). Make it larger, or with dynamic_size=True."),
    (lambda: tf.map_fn(tf.range, c([1, 2])), InvalidArgumentError, "map_fn: all results must have one shape; there are (1,) and (2,). Pad them."),
    (lambda: array(infer_shape=False).write(0, [1.0]).write(1, [[1.0]]).concat(), InvalidArgumentError, "TensorArray.concat: the elements may differ in their first size only; there are [1, 1] and [1]."),
    (lambda: array(infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).stack(), InvalidArgumentError, "TensorArray.stack: all elements must have one shape; there are (1,) and (2,). Join them with concat(), or pad them."),
]  # fmt: skip


# Where XLA is demanded.
COMPILED: list[Case] = [
    (lambda: tf.while_loop(few, lambda i, s: (i + 1, tf.concat([s, s], 0)), (0, c([1.0])), [tf.TensorShape([]), tf.TensorShape([None])]), UnimplementedError, "<lambda>: XLA needs fixed shapes: loop variable 1 must keep its shape from turn to turn; got float32[1] and float32[2]. Leave out jit_compile=True, or fix the size."),
    (lambda: tf.cond(flag(), lambda: tf.ones([2]), lambda: tf.ones([3])), UnimplementedError, "<lambda>: XLA needs fixed shapes: all branches must give result 0 the same shape; got float32[3] and float32[2]. Leave out jit_compile=True, or fix the size."),
    (lambda: array(0, dynamic_size=True).write(0, 1.0).stack(), UnimplementedError, "<lambda>: XLA needs fixed shapes: a TensorArray with dynamic_size=True grows as the program runs. Leave out jit_compile=True, or fix the size."),
    (lambda: array(ONE + 1).write(0, 1.0).stack(), UnimplementedError, "<lambda>: XLA needs fixed shapes: the size of a TensorArray depends on the values of tensors. Leave out jit_compile=True, or fix the size."),
    (lambda: array(infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).concat(), UnimplementedError, "<lambda>: XLA needs fixed shapes: the elements of a TensorArray have different shapes. Leave out jit_compile=True, or fix the size."),
    (lambda: array().stack(), UnimplementedError, "<lambda>: XLA needs fixed shapes: a TensorArray is stacked that nobody has written. Leave out jit_compile=True, or fix the size."),
    (lambda: tf.cond(flag(), lambda: array().write(0, 1.0), array).stack(), UnimplementedError, "<lambda>: XLA needs fixed shapes: a TensorArray is written in one branch only, before its rows have a shape. Leave out jit_compile=True, or fix the size."),
    (lambda: array(element_shape=[]).write(ONE + 1, 1.0).stack(), InvalidArgumentError, "TensorArray.write: index 2 is outside [0, 2). Make it larger, or with dynamic_size=True."),
    (lambda: tf.case([(tf.logical_not(flag()), int)]), InvalidArgumentError, "case: no condition holds, and there is no `default`."),
]  # fmt: skip


def line_of(work: Callable[[], Any]) -> int:
    return inspect.getsourcelines(work)[1]


def refused(case: Case, run: Callable[[], Any]) -> None:
    work, kind, text = case
    with pytest.raises(kind) as caught:
        run()
    error: Any = caught.value
    assert str(error) == text
    places = [n for n in error.__notes__ if n.startswith("  --> ")]
    lines = [f"  --> {__file__}:{n}: " for n in (line_of(work), line_of(array) + 1)]
    assert any(n.startswith(tuple(lines)) for n in places), places


def name(case: Case) -> str:
    return str(line_of(case[0]))


@pytest.mark.parametrize("case", ALIKE + EAGER, ids=name)
def test_eager_code(case: Case) -> None:
    refused(case, case[0])


@pytest.mark.parametrize("case", ALIKE + TRACED, ids=name)
def test_functions(case: Case) -> None:
    refused(case, lambda: tf.function(case[0], autograph=False)())


@pytest.mark.parametrize("case", COMPILED, ids=name)
def test_compiled_functions(case: Case) -> None:
    refused(case, lambda: tf.function(case[0], autograph=False, jit_compile=True)())
