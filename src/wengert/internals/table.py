"""The table of TensorFlow's inside names.

For each module below `tensorflow`: who needs it, and for each name the module of ours and what has
the meaning there (`inner=name` where it is called otherwise, `*` for a module). A name exists
because a library in use asks for it, and means the least that this library can do with.
"""

from __future__ import annotations

_EAGER = "internals.eager"

INSIDE: dict[str, tuple[str, dict[str, str]]] = {
    "": (
        "tf_keras, dm-sonnet: dtypes that nothing here has, and what operations of a trace are",
        {
            "internals.tensors": "qint16 qint32 qint8 quint16 quint8 resource variant",
            "core.symbolic": "Operation",
        },
    ),
    "__internal__": (
        "keras, tf_keras, tensorflow-probability",
        {
            "core.composite": "CompositeTensor",  # per-replica values are told by it
            "internals.tensors": "EagerTensor",
            "core.symbolic": "SymbolicTensor",
            "internals.graphs": "FuncGraph",  # symbolic shape inference
            "core.context": "get_current_name_scope=get_name_scope",
            _EAGER: (
                "execute_fn_for_device nothing=register_call_context_function "
                "nothing=register_clear_session_function nothing=register_get_session_function "
                "nothing=register_load_model_function null_context=load_context"
            ),
        },
    ),
    "__internal__.autograph": (
        "tf_keras: layers, losses and metrics of users",
        {"internals.conversion": "control_status_ctx tf_convert"},
    ),
    "__internal__.decorator": (
        "keras, tf_keras",
        {"internals.decorators": "make_decorator unwrap"},
    ),
    "__internal__.dispatch": (
        "tf_keras: functions of its symbolic tensors",
        {
            "internals.dispatch": (
                "GlobalOpDispatcher OpDispatcher add_dispatch_support dispatch_for_types"
            )
        },
    ),
    "__internal__.distribute": (
        "keras, tf_keras: updates of optimizers",
        {
            _EAGER: (
                "is_alone=strategy_supports_no_merge_call null_context=variable_sync_on_read_context"
            ),
            "internals.absent": "ShardedVariable",
        },
    ),
    "__internal__.distribute.interim": (
        "keras, tf_keras: updates of optimizers",
        {_EAGER: "maybe_merge_call"},
    ),
    "__internal__.eager_context": ("tf_keras", {_EAGER: "eager_mode"}),
    "__internal__.feature_column": (
        "tf_keras: told apart from layers",
        {
            "internals.absent": (
                "DenseColumn FeatureColumn FeatureTransformationCache SequenceDenseColumn "
                "StateManager deserialize_feature_column serialize_feature_column"
            )
        },
    ),
    "__internal__.function": ("tf_keras", {"functions.function": "Function"}),
    "__internal__.mixed_precision": ("tf_keras", {_EAGER: "nothing=register_loss_scale_wrapper"}),
    "__internal__.nest": (
        "tf_keras, tensorflow-probability",
        {
            "internals.nests": (
                "flatten_up_to get_traverse_shallow_structure is_attrs is_mapping list_to_tuple "
                "map_structure_up_to sequence_like yield_flat_paths"
            )
        },
    ),
    "__internal__.ops": (
        "tf_keras",
        {"internals.variables": "broadcast_weights is_resource_variable"},
    ),
    "__internal__.saved_model": ("tf_keras", {}),
    "__internal__.saved_model.load": (
        "tf_keras: optimizers and layers of saved models",
        {
            "internals.tracking": "VersionedTypeRegistration",
            _EAGER: "nothing=register_revived_type none=get_setter no_names=registered_identifiers",
        },
    ),
    "__internal__.smart_cond": (
        "keras.ops.cond, tf_keras",
        {"internals.graphs": "smart_cond"},
    ),
    "__internal__.test": ("tf_keras", {}),
    "__internal__.tf2": ("tf_keras", {_EAGER: "true=enabled"}),
    "__internal__.tracking": (
        "keras, tf_keras: the bases of layers, variables and optimizers",
        {
            "checkpoint.trackable": "AutoTrackable Trackable",
            "internals.tracking": (
                "no_automatic_dependency_tracking DelegatingTrackableMixin ObjectGraphView TrackableDataStructure "
                "sticky_attribute_assignment wrap"
            ),
            "internals.variables": "CheckpointInitialValue CheckpointInitialValueCallable",
            _EAGER: "nothing=register_session_provider",
        },
    ),
    "__internal__.train": (
        "tf_keras",
        {
            _EAGER: (
                "false=is_mixed_precision_graph_rewrite_enabled "
                "nothing=set_using_mixed_precision_policy"
            ),
            "internals.tracking": "update_checkpoint_state",
            "internals.variables": "assign_moving_average",
        },
    ),
    "__internal__.types": (
        "keras, tf_keras: the base of variables, which count as tensors",
        {"core.tensor": "ActsAsTensor=Tensor"},
    ),
    "__operators__": (
        "tf_keras: slices of its symbolic tensors",
        {"internals.variables": "add eq getitem ne ragged_getitem"},
    ),
    "compat": ("", {}),
    "compat.v1": (
        "keras, tf_keras",
        {
            "internals.absent": (
                "get_variable global_variables_initializer "
                "Orthogonal=orthogonal_initializer VarianceScaling=variance_scaling_initializer "
                "TruncatedNormal=truncated_normal_initializer "
                "GlorotUniform=glorot_uniform_initializer GlorotNormal=glorot_normal_initializer"
            ),
            "internals.initializers": "ConstantInitializer=constant_initializer",
            "internals.variables": "assign assign_add assign_sub get_variable_scope variable_scope",
            "core.shapes": "Dimension",
            "internals.tensors": "SparseTensorValue",
            "internals.graphs": "Graph get_default_graph placeholder sparse_placeholder",
            _EAGER: (
                "nothing=reset_default_graph null_context=colocate_with summary_metadata=SummaryMetadata "
                "true=control_flow_v2_enabled"
            ),
            "ops.shaping": "identity=placeholder_with_default",
        },
    ),
    "compat.v1.data": (
        "tf_keras",
        {
            "data.dataset": "Dataset",
            "data.iterator": "Iterator",
            "internals.datasets": (
                "get_output_classes get_output_shapes get_output_types make_one_shot_iterator"
            ),
        },
    ),
    "compat.v1.initializers": (
        "tf_keras",
        {"internals.absent": "Identity=identity Orthogonal=orthogonal"},
    ),
    "compat.v1.losses": (
        "tf_keras: a key of a dict",
        {"internals.absent": "sparse_softmax_cross_entropy"},
    ),
    "compat.v1.ragged": ("tf_keras", {"internals.absent": "RaggedTensorValue"}),
    "compat.v1.train": (
        "tf_keras: told apart from its own optimizers",
        {"internals.absent": "Optimizer", "train": "load_checkpoint=NewCheckpointReader"},
    ),
    "compiler.tf2xla.python.xla": (
        "keras.ops.slice_update, tensorflow-probability",
        {"internals.tensors": "dynamic_update_slice"},
    ),
    "core.framework": ("tf_keras: messages, from TensorBoard's copies", {}),
    "core.protobuf": ("tf_keras: messages, from TensorBoard's copies", {}),
    "distribute.experimental.coordinator": (
        "tf_keras: told apart from tensors",
        {"internals.absent": "ClusterCoordinator RemoteValue"},
    ),
    "dtensor.python.api": ("tf_keras", {}),
    # Of `tfp.experimental.auto_batching`, which rewrites syntax trees by TensorFlow's autograph, the
    # modules can be imported.
    "python.autograph.converters.break_statements": ("tensorflow-probability", {}),
    "python.autograph.converters.continue_statements": ("tensorflow-probability", {}),
    "python.autograph.converters.return_statements": ("tensorflow-probability", {}),
    "python.autograph.core.converter": ("tensorflow-probability", {_EAGER: "standard_analysis"}),
    "python.autograph.pyct.anno": ("tensorflow-probability", {}),
    "python.autograph.pyct.common_transformers.anf": ("tensorflow-probability", {}),
    "python.autograph.pyct.inspect_utils": ("tensorflow-probability", {}),
    "python.autograph.pyct.loader": ("tensorflow-probability", {}),
    "python.autograph.pyct.naming": ("tensorflow-probability", {}),
    "python.autograph.pyct.parser": ("tensorflow-probability", {}),
    "python.autograph.pyct.qual_names": ("tensorflow-probability", {}),
    "python.autograph.pyct.static_analysis.activity": ("tensorflow-probability", {}),
    "python.autograph.pyct.templates": ("tensorflow-probability", {}),
    "python.autograph.pyct.transformer": (
        "tensorflow-probability",
        {"internals.absent": "Transformer=Base"},
    ),
    "python.data.experimental.ops.distribute": (
        "keras.distribution",
        {_EAGER: "compute_batch_size"},
    ),
    "python.data.ops.from_generator_op": ("tf_keras", {"internals.absent": "_GeneratorDataset"}),
    "python.data.ops.from_sparse_tensor_slices_op": (
        "tf_keras",
        {"internals.absent": "_SparseTensorSliceDataset"},
    ),
    "python.data.ops.from_tensor_slices_op": (
        "tf_keras",
        {"internals.absent": "_TensorSliceDataset"},
    ),
    "python.data.ops.from_tensors_op": ("tf_keras", {"internals.absent": "_TensorDataset"}),
    "python.data.ops.iterator_ops": ("gpflow", {"data.iterator": "OwnedIterator"}),
    "python.data.ops.range_op": ("tf_keras", {"internals.absent": "_RangeDataset"}),
    "python.data.util.structure": ("tf_keras", {"internals.specs": "NoneTensorSpec"}),
    "python.distribute": ("tf_keras", {}),
    "python.distribute.cluster_resolver": (
        "tf_keras",
        {"internals.absent": "SimpleClusterResolver"},
    ),
    "python.distribute.distribute_utils": (
        "tf_keras",
        {_EAGER: "null_context=cache_variable_reads"},
    ),
    "python.distribute.input_lib": (
        "tf_keras",
        {"distribute.distributed_dataset": "DistributedDataset DistributedIterator"},
    ),
    "python.distribute.input_ops": ("tf_keras", {_EAGER: "auto_shard_dataset"}),
    "python.eager.backprop": ("tf_keras", {"tape.gradient_tape": "GradientTape"}),
    "python.eager.context": (
        "keras, tf_keras, dm-sonnet, tensorflow-probability",
        {
            # The end of an epoch waits; eager work is done by then.
            _EAGER: (
                "context eager_mode get_device_name nothing=_reset_context nothing=async_wait "
                "none=get_config init_scope=graph_mode"
            ),
            "core.context": "executing_eagerly",
        },
    ),
    "python.eager.def_function": (
        "libraries of TensorFlow 2.0",
        {"functions.function": "function Function"},
    ),
    "python.eager.tape": ("", {"tape.gradient_tape": "GradientTape=Tape"}),
    "python.framework.composite_tensor": (
        "tensorflow-probability",
        {"core.composite": "CompositeTensor"},
    ),
    "python.framework.config": (
        "keras: jit_compile='auto'",
        {
            "runtime.settings": (
                "disable_op_determinism enable_op_determinism is_op_determinism_enabled"
            )
        },
    ),
    "python.framework.dtypes": (
        "many",
        {
            "core.dtypes": (
                "DType as_dtype bfloat16 bool_=bool complex128 complex64 float16 float32 float64 int16 int32 "
                "int64 int8 string uint16 uint32 uint64 uint8"
            )
        },
    ),
    "python.framework.constant_op": ("many", {"ops.create": "constant"}),
    "python.framework.ops": (
        "tf_keras, tensorflow-probability",
        {
            "internals.tensors": "EagerTensor",
            "internals.graphs": "Graph get_default_graph",
            "core.convert": "to_tensor=convert_to_tensor register_tensor_conversion_function",
            "internals.variables": "convert_to_tensor_or_composite",
            "core.tensor": "Tensor",
            "core.context": "name_scope name_scope=name_scope_v1 name_scope=name_scope_v2 executing_eagerly",
            "runtime.placement": "control_dependencies device init_scope",
            _EAGER: "null_context=NullContextmanager null_context=colocate_with",
        },
    ),
    "python.framework.smart_cond": (
        "libraries of Keras 2's time",
        {
            "internals.graphs": "smart_cond",
            "internals.tensors": "constant_value=smart_constant_value",
        },
    ),
    "python.framework.sparse_tensor": (
        "keras",
        {"composite.sparse_tensor": "SparseTensor SparseTensorSpec"},
    ),
    "python.framework.test_util": (
        "tf_keras, tensorflow-probability: their tests",
        {
            "internals.decorators": (
                "same=disable_cudnn_autotune same=run_all_in_graph_and_eager_modes "
                "same=run_in_graph_and_eager_modes same=run_v2_only"
            ),
            "testing.cases": "TestCase=TensorFlowTestCase",
        },
    ),
    "python.framework.tensor": ("keras, tf_keras", {"core.tensor": "Tensor"}),
    "python.framework.tensor_shape": (
        "tensorflow-probability",
        {
            "core.shapes": "Dimension TensorShape",
            "compat.text": "dimension_value",
            "internals.tensors": "as_shape",
        },
    ),
    "python.framework.tensor_spec": (
        "tensorflow-probability",
        {"core.tensor_spec": "TensorSpec TensorSpec=DenseSpec"},
    ),
    "python.framework.tensor_util": (
        "keras, tensorflow-probability",
        {
            "core.tensor": "is_tensor is_tensor=is_tf_type",
            "internals.tensors": "constant_value constant_value_as_shape try_evaluate_constant",
        },
    ),
    "python.framework.type_spec": (
        "tf_keras, tensorflow-probability",
        {
            "core.tensor_spec": "TypeSpec",
            "core.composite": "CompositeSpec=BatchableTypeSpec",
            "composite.values": "type_spec_from_value",
        },
    ),
    "python.framework.type_spec_registry": (
        "tf_keras, tensorflow-probability",
        {"internals.specs": "get_name lookup register _NAME_TO_TYPE_SPEC _TYPE_SPEC_TO_NAME"},
    ),
    "python.ops.array_ops": ("tensorflow-probability", {"internals.variables": "prevent_gradient"}),
    "python.ops.control_flow_case": (
        "tensorflow-probability",
        {"internals.graphs": "_case_helper"},
    ),
    "python.ops.control_flow_ops": ("tf_keras", {_EAGER: "none=get_enclosing_xla_context"}),
    "python.ops.control_flow_util": (
        "tf_keras, tensorflow-probability",
        {
            _EAGER: (
                "ENABLE_CONTROL_FLOW_V2 false=GraphOrParentsInXlaContext false=IsInWhileLoop "
                "false=IsInXLAContext"
            ),
            "internals.graphs": "smart_cond",
            "internals.tensors": "constant_value=smart_constant_value",
        },
    ),
    "python.ops.gen_resource_variable_ops": ("tf_keras", {}),
    "python.ops.init_ops": (
        "tf_keras: `tf.compat.v1.keras.initializers`",
        {
            "internals.absent": (
                "Constant GlorotNormal GlorotUniform Identity Ones Orthogonal RandomNormal "
                "RandomUniform TruncatedNormal VarianceScaling Zeros"
            )
        },
    ),
    "python.ops.linalg.linear_operator": (
        "tensorflow-probability",
        {"linalg": "LinearOperator", "internals.decorators": "same=make_composite_tensor"},
    ),
    "python.ops.linalg.linear_operator_addition": ("tensorflow-probability", {}),
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": (
        "keras.ops.matmul of two sparse matrices",
        {
            "internals.sparse_matrices": (
                "csr_sparse_matrix_to_sparse_tensor sparse_matrix_sparse_mat_mul "
                "sparse_tensor_to_csr_sparse_matrix"
            )
        },
    ),
    "python.ops.lookup_ops": ("tf_keras", {"lookup.lookup_tables": "_Lookup=LookupInterface"}),
    "python.ops.math_ops": ("keras: nanmax and its kin", {"ops.compare": "is_nan"}),
    "python.ops.nn_ops": ("tensorflow-probability", {}),
    "python.ops.parallel_for.control_flow_ops": (
        "tensorflow-probability",
        {"internals.variables": "pfor", "functions.vectorized_map": "vectorized_map"},
    ),
    "python.ops.ragged.ragged_map_ops": ("tf_keras", {"functions.functional": "map_fn"}),
    "python.ops.ragged.ragged_tensor": ("keras", {"composite.ragged_tensor": "RaggedTensor"}),
    "python.ops.ragged.ragged_util": ("tf_keras", {"internals.variables": "assert_splits_match"}),
    "python.ops.random_ops": (
        "tensorflow-probability",
        {"internals.absent": "parameterized_truncated_normal"},
    ),
    "python.ops.resource_variable_ops": (
        "tf_keras, tensorflow-probability",
        {
            "core.variable": "Variable=BaseResourceVariable Variable=ResourceVariable",
            "internals.specs": "VariableSpec",
            "internals.variables": "is_resource_variable",
        },
    ),
    "python.ops.variable_scope": (
        "tf_keras",
        {
            "core.variable_creators": "variable_creator_scope",
            "internals.variables": "_get_default_variable_store with_variable_store",
        },
    ),
    "python.platform.tf_logging": (
        "tf_keras",
        {
            "compat.v1_logging": (
                "DEBUG ERROR FATAL INFO WARN debug error fatal info log log_every_n log_first_n vlog "
                "warn warning"
            )
        },
    ),
    "python.pywrap_tfe": ("tf_keras", {_EAGER: "no_names=TF_ListPluggablePhysicalDevices"}),
    "python.saved_model.model_utils.mode_keys": (
        "tf_keras",
        {"internals.absent": "KerasModeKeys"},
    ),
    "python.saved_model.save": ("tf_keras", {}),
    "python.tf2": ("tf_keras", {_EAGER: "true=enabled"}),
    "python.trackable.base": ("tf_keras", {"internals.variables": "CheckpointInitialValue"}),
    "python.trackable.data_structures": (
        "keras, tensorflow-probability",
        {
            "internals.tracking": (
                "ListWrapper DictWrapper=_DictWrapper sticky_attribute_assignment wrap=wrap_or_unwrap"
            )
        },
    ),
    "python.trackable.resource": ("tf_keras", {"internals.absent": "RestoredResource"}),
    "python.training.server_lib": ("tf_keras", {"internals.absent": "ClusterSpec"}),
    "python.util.compat": ("tf_keras", {"compat.text": "as_bytes as_str as_str_any as_text"}),
    "python.util.deprecation": (
        "tf_keras, tensorflow-probability",
        {
            "internals.decorators": (
                "deprecated deprecated_alias deprecated_arg_values deprecated_args "
                "deprecated_argument_lookup deprecated_endpoints silence"
            )
        },
    ),
    "python.util.dispatch": (
        "tf_keras",
        {
            "internals.dispatch": (
                "GlobalOpDispatcher OpDispatcher add_dispatch_support dispatch_for_types"
            )
        },
    ),
    "python.util.nest": (
        "tensorflow-probability, gpflow",
        {
            "internals.nests": (
                "assert_same_structure assert_shallow_structure flatten flatten_dict_items "
                "flatten_up_to flatten_with_joined_string_paths flatten_with_tuple_paths "
                "flatten_with_tuple_paths_up_to get_traverse_shallow_structure is_attrs is_mapping "
                "is_namedtuple is_nested is_nested_or_composite list_to_tuple map_structure "
                "map_structure_up_to map_structure_with_paths map_structure_with_tuple_paths "
                "map_structure_with_tuple_paths_up_to pack_sequence_as same_namedtuples "
                "sequence_like yield_flat_paths "
                "is_namedtuple=_is_namedtuple sequence_like=_sequence_like "
                "yield_sorted_items=_yield_sorted_items yield_value=_yield_value"
            )
        },
    ),
    "python.util.object_identity": ("gpflow", {"internals.variables": "Reference"}),
    "python.util.tf_contextlib": (
        "tf_keras",
        {"internals.decorators": "contextlib_contextmanager=contextmanager"},
    ),
    "python.util.tf_decorator": ("", {"internals.decorators": "make_decorator rewrap unwrap"}),
    "python.util.tf_export": (
        "tf_keras",
        {
            "internals.decorators": (
                "get_canonical_name_for_symbol get_symbol_from_name keras_export tf_export"
            )
        },
    ),
    "python.util.tf_inspect": (
        "tensorflow-probability",
        {
            "internals.inspection": (
                "Parameter Signature currentframe getattr_static getcallargs getdoc getfile "
                "getfullargspec getmembers getmodule getmro getsource isbuiltin "
                "isclass isfunction isgenerator isgeneratorfunction ismethod ismodule isroutine "
                "signature stack inspect=_inspect"
            )
        },
    ),
    "python.util.variable_utils": (
        "tensorflow-probability",
        {"internals.variables": "convert_variables_to_tensors"},
    ),
    "tools.docs.doc_controls": (
        "tf_keras: marks for documentation",
        {
            "internals.decorators": (
                "same=do_not_doc_inheritable same=do_not_generate_docs "
                "same=doc_in_current_and_subclasses same=for_subclass_implementers "
                "same=decorate_all_class_attributes same=doc_private"
            )
        },
    ),
}
