"""What a rule is, and what it may ask for: rules, edits and refusals as data.

A rule looks at one root node through `Facts` and answers with an `Edit` or a `Declined`; it changes nothing
and keeps nothing. New nodes are described as nested `NodeSpec` expressions; only the driver makes and inserts
them.

House: rewrite. May import analysis and model.
Touch: `edits.py` (how an edit is applied), `driver.py` (what it enforces), CONTRIBUTING recipe 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnxsim_ci.analysis import Facts
    from onnxsim_ci.model import Node, Scope, Value


class ResultClass(Enum):
    """How the outputs of an edit relate to the source's (design: core, section 3)."""

    EXACT = "exact"
    """Same bits for every input, NaN payloads aside."""
    ROUNDING = "rounding"
    """The same real-number function with other rounding."""
    VALUES = "values"
    """Differs for named special values; fires only when the policy's switch allows it."""


class Level(Enum):
    """From which simplification level on a rule runs."""

    BASIC = "basic"
    FUSION = "fusion"
    TARGET = "target"


class Lowers(Enum):
    """The measure that one application of a rule lowers, in the order in which the driver compares them."""

    NODES = "nodes"
    COMPUTED = "computed operands"
    BYTES = "bytes"
    RANK = "canonical rank"


class Status(Enum):
    """Whether a rule is on by default."""

    STABLE = "stable"
    PREVIEW = "preview"
    EXTRA = "extra"


@dataclass(frozen=True, slots=True, eq=False)
class NodeSpec:
    """A node to be made: operator, operands, attributes.

    An operand is a Value of the model, an array (becomes a constant), another NodeSpec (its first output), an
    `Output` of one, or None (absent). Attributes are int, float, str, sequences of those, or a message.

    Attributes:
        like: Node whose attributes (those not given here), name, doc string and metadata carry over.
        output_count: How many outputs the node has.
    """

    op_type: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    domain: str = ""
    like: Node | None = None
    output_count: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """Output `index` of a node to be made."""

    spec: NodeSpec
    index: int


Operand = Any
"""Value, numpy array, NodeSpec, Output, or None."""


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """One change of the graph, as data.

    Attributes:
        why: One sentence, shown to users, that says why the outputs stay equal.
        replace: Pairs of an existing value and the operand that all its readers get instead.
        rewire: Triples of a surviving node, an input index and its new operand (None removes the input).
        splice: A subgraph of the root whose nodes take the root's place; its outputs become the root's.
        unlist: Places of outputs of the root, an If, that nothing reads: they go, and so do its bodies'.
    """

    why: str
    replace: tuple[tuple[Value, Operand], ...] = ()
    rewire: tuple[tuple[Node, int, Operand], ...] = ()
    splice: Scope | None = None
    unlist: tuple[int, ...] = ()


class Declined:
    """Why a rule did not fire: a sentence with names in it, put together only when somebody reads it."""

    __slots__ = ("_template", "_values")

    def __init__(self, template: str, *values: object) -> None:
        self._template = template
        self._values = values

    @property
    def reason(self) -> str:
        """The sentence, for `explain` and for tests."""
        return self._template.format(*(getattr(v, "name", v) for v in self._values))


def replace(node: Node, operand: Operand, why: str) -> Edit:
    """The usual edit: the only used output of `node` becomes `operand`."""
    output = node.outputs[0]
    assert output is not None
    return Edit(why, replace=((output, operand),))


Propose = Callable[["Node", "Facts"], "Edit | Declined"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """One rewrite: when the driver may try it, and what it promises.

    Attributes:
        id: `<verb>-<operators>`, kebab case; the policy key, the fixture's and the page's name.
        family: Folder that it lives in.
        roots: Operator types of the nodes that it is offered.
        propose: Pure function of a node and the facts.
        result: Promise about the outputs.
        lowers: What falls with each application.
        level: From which level on it runs.
        since_opset, until_opset: Range of the domain's opset, both ends included.
        domain: Domain of the roots.
        hazards: Special inputs that could tell a mistake of this rule (names of `feeds` hazards).
        status: Whether it is on by default.
        looks_far: It looks past direct producers and readers, so it is tried once more at the end.
    """

    id: str
    family: str
    roots: tuple[str, ...]
    propose: Propose
    result: ResultClass
    lowers: Lowers
    level: Level = Level.BASIC
    since_opset: int = 7
    until_opset: int = 1_000
    domain: str = ""
    hazards: frozenset[str] = frozenset()
    status: Status = Status.STABLE
    looks_far: bool = False
