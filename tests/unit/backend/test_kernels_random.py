"""Random kernels: every way to run one gives the same."""

import random

import numpy as np
import pytest
from tests.unit.backend.harness import same

from linnet import imp
from linnet.imp import (
    ZERO,
    Accumulate,
    Argument,
    Assign,
    Binary,
    Block,
    Break,
    Buffer,
    Const,
    For,
    If,
    Kernel,
    Let,
    Return,
    Store,
    Var,
    While,
)


class Maker:
    """Makes terminating programs over a few variables and an array of eight elements."""

    def __init__(self, seed: int) -> None:
        self.random, self.fresh = random.Random(seed), 0
        self.x = Buffer("x", "int64")

    def block(self, names: list[str], loops: int, depth: int) -> Block:
        names, stmts = list(names), []
        for _ in range(self.random.randint(1, 4)):
            stmts.append(self.statement(names, loops, depth))
        return Block(tuple(stmts))

    def statement(self, names: list[str], loops: int, depth: int) -> imp.Stmt:
        pick = self.random.random()
        mutable = [m for m in names if m[0] == "v"]
        if depth and pick < 0.42:
            return self.nested(pick, names, loops, depth - 1)
        if loops and pick < 0.47:
            return Break()
        if pick < 0.49:
            return Return(self.value(names, 2))
        if pick < 0.6:
            var = self.name("v")
            let = Let(Var(var), self.value(names, 2))
            names.append(var)
            return let
        if mutable and pick < 0.8:
            var = Var(self.random.choice(mutable))
            if self.random.random() < 0.5:
                return Accumulate(
                    var,
                    self.random.choice(["+", "-", "*", "min", "max", "^"]),
                    self.value(names, 2),
                )
            return Assign(var, self.value(names, 2))
        if pick < 0.85:
            return Block((self.statement(list(names), loops, depth),))
        return Store(self.x, self.index(names), self.value(names, 2))

    def nested(self, pick: float, names: list[str], loops: int, depth: int) -> imp.Stmt:
        """A branch, or a loop of either kind, with blocks of this depth."""
        if pick < 0.2:
            cond, then = self.condition(names), self.block(names, loops, depth)
            return If(cond, then, self.otherwise(names, loops, depth))
        if pick < 0.35:
            var = self.name("f")
            body = self.block([*names, var], loops + 1, depth)
            start, stop = self.value(names, 0), Const(self.random.randint(0, 6), "int64")
            return For(Var(var), start, stop, body)
        count = Var(self.name("w"))
        body = self.block(names, loops + 1, depth)
        leave = If(count > 3, Block((Break(),)), imp.EMPTY)
        turn = Block((leave, Assign(count, count + 1), *body.stmts))
        return Block((Let(count, ZERO), While(self.condition(names) | (count < 2), turn)))

    def otherwise(self, names, loops, depth):
        return self.block(names, loops, depth) if self.random.random() < 0.6 else imp.EMPTY

    def name(self, kind: str) -> str:
        self.fresh += 1
        return f"{kind}{self.fresh}"

    def index(self, names: list[str]) -> imp.Expr:
        return Binary("&", self.value(names, 1), Const(7, "int64"), "int64")

    def condition(self, names: list[str]) -> imp.Expr:
        test = Binary(
            self.random.choice(["<", "<=", "==", "!="]),
            self.value(names, 1),
            self.value(names, 1),
            "bool",
        )
        return test if self.random.random() < 0.7 else test & self.condition(names)

    def value(self, names: list[str], depth: int) -> imp.Expr:
        pick = self.random.random()
        if depth == 0 or pick < 0.3:
            return (
                Const(self.random.randint(-3, 9), "int64")
                if pick < 0.15 or not names
                else Var(self.random.choice(names))
            )
        if pick < 0.5:
            return imp.Load(self.x, self.index(names))
        op = self.random.choice(["+", "-", "*", "div", "rem", "min", "max", "&", "<<"])
        return Binary(op, self.value(names, depth - 1), self.value(names, depth - 1), "int64")


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    maker = Maker(seed)
    body = maker.block(["n", "m"], 0, 4)
    kernel = Kernel("random", (Argument("x", (Var("n"), Var("m")), (maker.x,)),), body)
    same(kernel, {"n": 3, "m": -2, "x": np.arange(8) * 5 - 7})
