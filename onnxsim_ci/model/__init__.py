"""Ground floor: a model's protobuf messages, their index and weights, and their way from and to files.

Belongs here: whatever reads or makes protobuf. Does not belong here: what is known about values (analysis),
what may change (rewrite), running a model (runtime).

House: model. May import onnx, numpy and errors.
Touch: callers import names from this package, not from its modules.
"""

from onnxsim_ci.model.attributes import attribute_value
from onnxsim_ci.model.build import IR_WITHOUT_INPUT_INITIALIZERS, build_graph
from onnxsim_ci.model.data_files import named_data_files, note_outdated, remove_outdated
from onnxsim_ci.model.graph import Graph, Node, Scope, Value
from onnxsim_ci.model.interface import Interface, interface_difference, interface_of
from onnxsim_ci.model.load import Limits, LoadedModel, load
from onnxsim_ci.model.mutation import release
from onnxsim_ci.model.operators import NONDETERMINISTIC, STANDARD_DOMAINS, Operator, find_operator
from onnxsim_ci.model.save import (
    SavedFiles,
    embedded,
    filled,
    has_spans,
    image_of,
    save_beside,
    serialized,
    serialized_bytes,
)
from onnxsim_ci.model.statistics import Statistics, all_graphs, statistics_of, subgraphs
from onnxsim_ci.model.tensors import element_type, numpy_dtype, stored_bytes, tensor_from_array
from onnxsim_ci.model.text import canonical_text
from onnxsim_ci.model.validity import check_content, checker_problem
from onnxsim_ci.model.value_infos import add_value_infos, strip_value_infos
from onnxsim_ci.model.weights import Weights
from onnxsim_ci.model.writeback import write_back

__all__ = [
    "IR_WITHOUT_INPUT_INITIALIZERS",
    "NONDETERMINISTIC",
    "STANDARD_DOMAINS",
    "Graph",
    "Interface",
    "Limits",
    "LoadedModel",
    "Node",
    "Operator",
    "SavedFiles",
    "Scope",
    "Statistics",
    "Value",
    "Weights",
    "add_value_infos",
    "all_graphs",
    "attribute_value",
    "build_graph",
    "canonical_text",
    "check_content",
    "checker_problem",
    "element_type",
    "embedded",
    "filled",
    "find_operator",
    "has_spans",
    "image_of",
    "interface_difference",
    "interface_of",
    "load",
    "named_data_files",
    "note_outdated",
    "numpy_dtype",
    "release",
    "remove_outdated",
    "save_beside",
    "serialized",
    "serialized_bytes",
    "statistics_of",
    "stored_bytes",
    "strip_value_infos",
    "subgraphs",
    "tensor_from_array",
    "write_back",
]
