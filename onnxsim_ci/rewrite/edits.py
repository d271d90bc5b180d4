"""Apply one edit to the index: make its nodes and constants, move the readers over, drop what died.

House: rewrite. May import model and the contract.
Touch: `driver.py` decides whether an edit is applied, this only how.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from onnxsim_ci.analysis import Facts
from onnxsim_ci.model import Graph, Node, Scope, Value
from onnxsim_ci.model.mutation import (
    hold_constant,
    is_reused_inside,
    new_constant,
    new_node,
    new_value,
    remove_node,
    replace_uses,
    set_input,
    take_name,
)
from onnxsim_ci.rewrite.contract import Edit, NodeSpec, Operand, Output
from onnxsim_ci.rewrite.shared_constants import SharedConstants
from onnxsim_ci.rewrite.splicing import count_nodes, move_body, unlist_outputs


class Editor:
    """Changes of one graph, and the nodes that have to be looked at again because of them.

    Attributes:
        node_delta: Nodes made minus nodes removed since the last `start`, Constant nodes aside.
        touched, added: Nodes to visit again, and names of values made since the last `start`.
        made_bytes, freed: Size of the constants made, and constants without readers, since the last `start`.
        gone: (removed value, value that stands for it or "") since the last `start`.
    """

    def __init__(self, graph: Graph, facts: Facts, keeps_node: Any) -> None:
        self.graph = graph
        self.facts = facts
        self.keeps_node = keeps_node
        self.shared = SharedConstants()
        self.fresh: list[Value] = []
        self.start()

    def start(self) -> None:
        """Forget what earlier edits did."""
        self.node_delta, self.made_bytes, self.base = 0, 0, ""
        self.touched, self.freed = list[Node](), list[Value]()
        self.added: list[str] = []
        self.gone: list[tuple[str, str]] = []

    def take_fresh(self) -> list[Value]:
        """The constants made since the last call; they may equal others once they are tensors."""
        fresh, self.fresh = self.fresh, []
        return fresh

    def can_apply(self, edit: Edit) -> bool:
        """False when a replaced value must keep its name and its replacement cannot take it."""
        named = [operand for old, operand in edit.replace if old.pins and isinstance(operand, Value)]
        if len(set(named)) < len(named):
            return False
        return all(self._can_replace(old, operand) for old, operand in edit.replace)

    def _can_replace(self, old: Value, new: Operand) -> bool:
        if not isinstance(new, Value):
            return isinstance(new, (NodeSpec, Output)) or not is_reused_inside(self.graph, old)
        if not old.scope.sees(new.scope):
            return False
        if not old.pins:
            return True
        if is_reused_inside(self.graph, old):
            return False
        return new.producer is not None and new.scope is old.scope and not new.pins and not new.is_input

    def apply(self, root: Node, edit: Edit) -> None:
        """Carry out `edit`, which `can_apply`."""
        self.base = root.outputs[0].name if root.outputs and root.outputs[0] is not None else root.label
        made: dict[NodeSpec, Node] = {}
        if edit.splice is not None:
            self._splice(root, edit.splice)
            return
        if edit.unlist:
            freed, names = unlist_outputs(root, edit.unlist)
            self.gone += [(name, "") for name in names]
            self.sweep(freed)
            self.touched += [node for body in root.subgraphs for node in body.nodes if node.is_alive]
            return
        for node, index, operand in edit.rewire:
            old = node.input(index)
            set_input(node, index, self._value(operand, root, made, node))
            self.touched.append(node)
            self.sweep([] if old is None else [old])
        producers = [root, *(p for old, _ in edit.replace if (p := old.producer) is not None)]
        for old, operand in edit.replace:
            self._replace(old, operand, root, made)
        for producer in producers:
            self._drop_if_dead(producer)

    def _replace(self, old: Value, operand: Operand, root: Node, made: dict[NodeSpec, Node]) -> None:
        spec, index = (operand.spec, operand.index) if isinstance(operand, Output) else (operand, 0)
        if isinstance(spec, NodeSpec):
            if spec in made:
                node = made[spec]
                value = node.outputs[index]
                if value is None:
                    self._detach(old)
                    node.outputs[index] = old
                    old.producer = node
                    node.is_changed = True
                else:
                    self.redirect(old, value)
            else:
                self._detach(old)
                self._make(spec, root, made, {index: old})
                self._touch(old.uses)
            return
        if isinstance(operand, Value):
            self.redirect(old, operand)
            return
        self._detach(old)
        self.become_constant(old, np.asarray(operand))

    def _detach(self, old: Value) -> None:
        """Take `old` from its producer; the caller drops the producer once all new nodes stand."""
        producer = old.producer
        if producer is not None:
            producer.outputs[:] = [None if v is old else v for v in producer.outputs]
            producer.is_changed = True
            old.producer = None
            self.touched.append(producer)

    def become_constant(self, value: Value, array: np.ndarray[Any, Any]) -> None:
        """`value`, detached, is the constant `array` from now on; an equal small one takes its place."""
        known = None if value.pins else self.shared.find(value.scope, array)
        if known is not None and known is not value:
            self.redirect(value, known)
            return
        hold_constant(value, array)
        self.made_bytes += array.nbytes
        if not value.pins:
            self.shared.remember(value, array)
        self.fresh.append(value)
        self._touch(value.uses, far=True)

    def detach_and_hold(self, node: Node, value: Value, array: np.ndarray[Any, Any]) -> None:
        """`value`, an output of `node`, becomes the constant `array`; `node` dies with its last output."""
        self._detach(value)
        self.become_constant(value, array)
        self._drop_if_dead(node)

    def redirect(self, old: Value, new: Value) -> None:
        """All readers of `old` read `new`; a name that the interface needs moves to the producer."""
        if old.pins:
            before = old.producer
            take_name(old, new)
            if before is not None:
                self._drop_if_dead(before)
            self.gone.append((new.name, old.name))
            self._touch(old.uses, far=old.is_constant)
            if old.producer is not None:
                self.touched.append(old.producer)
            return
        producer = old.producer
        becomes_constant = new.is_constant and not old.is_constant
        readers = replace_uses(old, new)
        self.gone.append((old.name, new.name))
        self._touch(readers, far=becomes_constant)
        self.early(new, producer)
        if len(new.uses) == 1:
            self._touch(new.uses)
        if producer is not None:
            self._drop_if_dead(producer)

    def early(self, constant: Value, former: Node | None = None) -> None:
        """A Constant node with new readers moves to the front, unless it stood before their `former` one."""
        producer = constant.producer
        if producer is None or producer.op_type != "Constant" or producer.order < 0:
            return
        if former is None or former.scope is not producer.scope or former.order <= producer.order:
            producer.order, constant.scope.is_reordered = -1, True

    def constant(self, scope: Scope, array: np.ndarray[Any, Any], base: str) -> Value:
        """A constant of `scope` with these elements; small ones are shared."""
        known = self.shared.find(scope, array)
        if known is not None:
            self.early(known)
            return known
        value = new_constant(self.graph, scope, array, base)
        self.made_bytes += array.nbytes
        self.shared.remember(value, array)
        self.fresh.append(value)
        self.added.append(value.name)
        return value

    def _value(self, operand: Operand, root: Node, made: dict[NodeSpec, Node], reader: Node) -> Value | None:
        if operand is None or isinstance(operand, Value):
            return operand
        if isinstance(operand, Output):
            return self._make(operand.spec, root, made, {}).outputs[operand.index]
        if isinstance(operand, NodeSpec):
            return self._make(operand, root, made, {}).outputs[0]
        base = next((v.name for v in reader.outputs if v is not None), reader.op_type)
        return self.constant(root.scope, np.asarray(operand), f"{base}_const")

    def _make(self, spec: NodeSpec, root: Node, made: dict[NodeSpec, Node], named: dict[int, Value]) -> Node:
        known = made.get(spec)
        if known is not None:
            return known
        inputs = [self._value(o, root, made, root) for o in spec.operands]
        while inputs and inputs[-1] is None:
            inputs.pop()
        outputs: list[Value | None] = []
        for index in range(spec.output_count):
            value = named.get(index)
            if value is None:
                value = new_value(self.graph, root.scope, f"{self.base}_{spec.op_type}")
                self.added.append(value.name)
            outputs.append(value)
        parts = (root.scope, spec.op_type, inputs, outputs, spec.attributes)
        node = new_node(*parts, order=root.order, domain=spec.domain, like=spec.like)
        node.rank = root.rank
        made[spec] = node
        if spec.op_type != "Constant":
            self.node_delta += 1
        self.touched.append(node)
        return node

    def _touch(self, readers: Iterable[Node], *, far: bool = False) -> None:
        """Readers may match now; `far`: their readers too (an input became constant)."""
        for node in list(readers):
            self.touched.append(node)
            for output in node.outputs if far else ():
                self.touched += output.uses if output is not None else ()

    def drop(self, node: Node) -> None:
        """Remove `node` and every producer that nothing reads any more."""
        self.sweep(self._remove(node))

    def _remove(self, node: Node) -> list[Value]:
        """Take out one node. Returns: the values that lost a reader."""
        if node.op_type != "Constant" or node.domain:
            self.node_delta -= 1 + sum(count_nodes(s) for s in node.subgraphs)
        self.gone += [(v.name, "") for v in node.outputs if v is not None and v.producer is node]
        return remove_node(node)

    def sweep(self, values: list[Value]) -> None:
        """Values that lost a reader: drop their producers when dead, look again at the one reader left."""
        stack = list(values)
        while stack:
            value = stack.pop()
            producer = value.producer
            if value.is_read:
                self.touched += value.uses if len(value.uses) == 1 else ()
                continue
            self.freed += [value] if value.is_constant else []
            if producer is not None and producer.is_alive:
                self.touched.append(producer)
                if self._is_dead(producer):
                    stack += self._remove(producer)

    def _drop_if_dead(self, node: Node) -> None:
        if node.is_alive and self._is_dead(node):
            self.drop(node)

    def _is_dead(self, node: Node) -> bool:
        return not node.is_read and not self.keeps_node(node)

    def _splice(self, root: Node, body: Scope) -> None:
        """The nodes of `body` take the place of `root`, which they belong to."""
        outer = root.scope
        for value in body.outputs:
            value.pins -= 1
        results = list(body.outputs)
        nodes, constants = move_body(self.graph, body, root)
        self.touched += nodes
        self.fresh += constants
        root.subgraphs = tuple(s for s in root.subgraphs if s is not body)
        renamed: dict[Value, Value] = {}
        for old, result in zip(list(root.outputs), results, strict=False):
            if old is None or not old.is_read:
                continue
            new = renamed.get(result, result)
            if self._can_replace(old, new):
                if old.pins:
                    renamed[result] = old
                self.redirect(old, new)
            else:
                self._detach(old)
                copy = new_node(outer, "Identity", [new], [old], {}, order=root.order)
                copy.rank = root.rank
                self.touched.append(copy)
                self.node_delta += 1
        if root.is_alive:
            self.drop(root)
        outer.is_reordered = True
