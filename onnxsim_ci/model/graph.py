"""The index over a model: values, nodes and scopes as slots objects over their protobuf messages.

The protobuf messages stay the truth; what nothing touched is written back byte for byte.
Names are resolved once, outward through the scopes, so a captured value's readers include nodes of inner
scopes.

House: model. May import onnx, numpy and errors.
Touch: `build.py` makes these objects, `mutation.py` changes them, `writeback.py` puts them back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, TensorProto, ValueInfoProto

from onnxsim_ci.model.attributes import attribute_value

if TYPE_CHECKING:
    import numpy as np

    from onnxsim_ci.model.operators import Operator

GRAPH, GRAPHS = AttributeProto.GRAPH, AttributeProto.GRAPHS


class Value:
    """One tensor (or sequence, map, optional) of one scope.

    Attributes:
        name: Unique in its scope.
        scope: Where it is defined.
        producer: The node that computes it; None for inputs, initializers and folded values.
        uses: The nodes that read it, in any scope, in order of registration.
        pins: How many interface entries need it under this name: graph outputs, `keep`, annotations.
        tensor: The TensorProto of an initializer or of a Constant node, else None.
        data: Its elements as an array, where they were read or computed.
        is_input: Listed among its scope's inputs.
        overridable: An initializer that the caller may replace (listed as an input, IR 4 or later).
        declared: The ValueInfoProto that declares it, a claim for everything but graph inputs.
        dtype: TensorProto element type as far as proven; 0 unknown, -1 not a tensor. Kept by `analysis`.
        shape: Tuple of dims, or None. Kept by `analysis`.
        content: Elements of a small integer tensor, or None. Kept by `analysis`.
    """

    __slots__ = (
        "content",
        "data",
        "declared",
        "dtype",
        "is_input",
        "name",
        "overridable",
        "pins",
        "producer",
        "scope",
        "shape",
        "tensor",
        "uses",
    )

    def __init__(self, name: str, scope: Scope, producer: Node | None = None) -> None:
        self.name = name
        self.scope = scope
        self.producer = producer
        self.uses: dict[Node, None] = {}
        self.pins = 0
        self.tensor: TensorProto | None = None
        self.data: np.ndarray[Any, Any] | None = None
        self.is_input = False
        self.overridable = False
        self.declared: ValueInfoProto | None = None
        self.dtype = 0
        self.shape: tuple[Any, ...] | None = None
        self.content: Any = None

    def __repr__(self) -> str:
        return f"%{self.name}"

    @property
    def is_constant(self) -> bool:
        """True when its elements are part of the model and nobody can override them."""
        return (self.tensor is not None or self.data is not None) and not self.overridable

    @property
    def is_read(self) -> bool:
        """True when a node or the interface needs it."""
        return bool(self.uses) or self.pins > 0

    @property
    def single_reader(self) -> bool:
        """True when exactly one node reads it (perhaps at several inputs) and the interface does not."""
        return len(self.uses) == 1 and not self.pins


class Node:
    """One node, with its inputs and outputs resolved to values.

    Attributes:
        op_type, domain: As in the message; `ai.onnx` is written as the empty domain.
        inputs, outputs: Values; None where an optional one is absent.
        proto: The message; its input and output lists are stale while `is_changed`.
        scope: Where the node stands.
        order: Sort key inside the scope; new nodes share the key of the node that they replace.
        rank: Place among the nodes of all scopes, producers first; a new node takes its root's.
        subgraphs: Scopes of its graph attributes, in attribute order.
        operator: Its schema facts; None for an opaque node (unknown domain, attribute reference, function
        call). is_call: It calls a local function of the model.
    """

    __slots__ = (
        "domain",
        "inputs",
        "is_alive",
        "is_call",
        "is_changed",
        "is_queued",
        "learned_from",
        "op_type",
        "operator",
        "order",
        "outputs",
        "proto",
        "rank",
        "scope",
        "subgraphs",
    )

    def __init__(self, proto: NodeProto, scope: Scope, order: int) -> None:
        self.proto = proto
        self.op_type = proto.op_type
        self.domain = proto.domain
        self.scope = scope
        self.order = order
        self.rank = 0
        self.learned_from: list[object] | None = None
        self.inputs: list[Value | None] = []
        self.outputs: list[Value | None] = []
        self.is_alive = True
        self.is_changed = False
        self.is_queued = False
        self.is_call = False
        self.subgraphs: tuple[Scope, ...] = ()
        self.operator: Operator | None = None

    def __repr__(self) -> str:
        return f"{self.op_type}({', '.join(v.name if v else '' for v in self.inputs)})"

    @property
    def key(self) -> tuple[str, str, str]:
        """Domain, operator and overload: what a call names."""
        return (self.domain, self.op_type, self.proto.overload)

    @property
    def label(self) -> str:
        """How a report names it: its name, else its operator and first output."""
        if self.proto.name:
            return str(self.proto.name)
        first = next((v.name for v in self.outputs if v is not None), "")
        return f"{self.op_type}:{first}"

    @property
    def is_read(self) -> bool:
        """True when something reads one of its outputs."""
        for value in self.outputs:  # noqa: SIM110 - twice as fast as any(), and called for every visit
            if value is not None and (value.uses or value.pins):
                return True
        return False

    def attribute(self, name: str, default: Any = None) -> Any:
        """Value of an attribute: int, float, str, tuple, or the message for tensors, graphs and types."""
        for attribute in self.proto.attribute:
            if attribute.name == name:
                return attribute_value(attribute)
        return default

    def input(self, index: int) -> Value | None:
        """The value at `index`; None when it is absent or beyond the list."""
        return self.inputs[index] if index < len(self.inputs) else None

    def output(self, index: int) -> Value | None:
        """The output at `index`; None when it is absent or beyond the list."""
        return self.outputs[index] if index < len(self.outputs) else None


class Scope:
    """One graph, subgraph or function body.

    Attributes:
        proto: GraphProto or FunctionProto.
        parent: The enclosing scope; None for the main graph and for functions.
        owner: The node that holds the subgraph; None for the main graph and for functions.
        opsets: Version by domain, as imported by the model or by the function.
        values: Every value defined here, by name.
        nodes: In model order; dead ones stay until the write-back.
        is_reordered: Nodes were added, so the write-back sorts topologically.
    """

    __slots__ = (
        "inputs",
        "is_function",
        "is_reordered",
        "nodes",
        "opset",
        "opsets",
        "outputs",
        "owner",
        "parent",
        "path",
        "proto",
        "values",
    )

    def __init__(
        self, proto: GraphProto | FunctionProto, parent: Scope | None, opsets: dict[str, int], path: str
    ) -> None:
        self.proto = proto
        self.parent = parent
        self.owner: Node | None = None
        self.opsets = opsets
        self.opset = opsets.get("", 0)
        self.path = path
        self.is_function = isinstance(proto, FunctionProto)
        self.values: dict[str, Value] = {}
        self.nodes: list[Node] = []
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.is_reordered = False

    @property
    def initializers(self) -> Sequence[TensorProto]:
        """The initializers of a graph; functions have none."""
        return self.proto.initializer if isinstance(self.proto, GraphProto) else ()

    @property
    def sparse_count(self) -> int:
        """Number of sparse initializers."""
        return len(self.proto.sparse_initializer) if isinstance(self.proto, GraphProto) else 0

    @property
    def key(self) -> tuple[str, str, str]:
        """Domain, name and overload of a function, as `Node.key` of its calls; empty for graphs."""
        proto = self.proto
        if not isinstance(proto, FunctionProto):
            return ("", "", "")
        return ("" if proto.domain == "ai.onnx" else proto.domain, proto.name, proto.overload)

    def find(self, name: str) -> Value | None:
        """The value that `name` means here, looking outward; None when nothing defines it."""
        scope: Scope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.parent
        return None if scope is None else scope.values[name]

    def sees(self, other: Scope) -> bool:
        """True when values of `other` are visible here: it is this scope or encloses it."""
        scope: Scope | None = self
        while scope is not None and scope is not other:
            scope = scope.parent
        return scope is not None


class Graph:
    """The index of one model: its main graph and its function bodies.

    Attributes:
        names: Every value name in any scope, so that new names shadow nothing.
        repeated: Names that more than one scope defines. numbered: Last number of fresh names by base.
    """

    __slots__ = ("functions", "ir_version", "names", "numbered", "repeated", "root")

    def __init__(self, root: Scope, functions: tuple[Scope, ...], ir_version: int, names: set[str]) -> None:
        self.root = root
        self.functions = functions
        self.ir_version = ir_version
        self.names = names
        self.repeated: set[str] = set()
        self.numbered: dict[str, int] = {}

    def scopes(self) -> Iterator[Scope]:
        """The main graph, the function bodies and all their live subgraphs, outer before inner."""
        stack = [*reversed(self.functions), self.root]
        while stack:
            scope = stack.pop()
            yield scope
            for node in reversed(scope.nodes):
                if node.subgraphs and node.is_alive:
                    stack += reversed(node.subgraphs)

    def fresh_name(self, base: str) -> str:
        """A name that no scope of the model uses, made from `base`; it counts as used from now on."""
        name, number = base, self.numbered.get(base, 0)
        while not name or name in self.names:
            number += 1
            name = f"{base}_{number}"
        self.numbered[base] = number
        self.names.add(name)
        return name
