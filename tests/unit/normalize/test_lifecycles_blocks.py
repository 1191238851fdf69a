"""Freezes and thaws in loops and conditions, before and after; both are written as kernels."""

from __future__ import annotations

from tests.unit.normalize.lifecycles import check

from linnet.formats.element import Element
from linnet.formats.named import stack
from linnet.frontend import words as ln

SCALAR = stack(Element(0.0))


def test_scalars_in_inner_blocks():
    def before(y, A):
        s = ln.temp(SCALAR)
        y[...] = 0
        for i in ...:
            s[...] = 0
            for j in ...:
                s[()] += A[i, j]
            if s[()] > 0:
                y[i] = s[()]

    def after(y, A):
        s = ln.temp(SCALAR)
        y[...] = 0
        for i in ...:
            s[...] = 0
            for j in ...:
                s[()] += A[i, j]
            ln.freeze(s)
            if s[()] > 0:
                y[i] = s[()]
        ln.freeze(y)
        return y

    check(before, after)


def test_each_block_declares_for_itself():
    def before(y, z, x):
        w = ln.temp(SCALAR)
        y[...] = 0
        for i in ...:
            w[...] = 0
            w[()] += x[i]
            y[i] = w[()]
        z[...] = 0
        for i in ...:
            if x[i] > 0:
                w[...] = 1
                z[i] = w[()]

    def after(y, z, x):
        w = ln.temp(SCALAR)
        y[...] = 0
        for i in ...:
            w[...] = 0
            w[()] += x[i]
            ln.freeze(w)
            y[i] = w[()]
        z[...] = 0
        for i in ...:
            if x[i] > 0:
                w[...] = 1
                ln.freeze(w)
                z[i] = w[()]
        ln.freeze(y)
        ln.freeze(z)
        return y, z

    check(before, after)


def test_a_let_is_not_a_block():
    def before(y, x):
        s = ln.temp(SCALAR)
        s[...] = 0
        for i in ...:
            s[()] += x[i]
        mean = s[()] / x.shape[0]
        s[...] = 0
        for i in ...:
            s[()] += (x[i] - mean) * (x[i] - mean)
        y[...] = 0
        for i in ...:
            y[i] = (x[i] - mean) / s[()]

    def after(y, x):
        s = ln.temp(SCALAR)
        s[...] = 0
        for i in ...:
            s[()] += x[i]
        ln.freeze(s)
        mean = s[()] / x.shape[0]
        s[...] = 0
        for i in ...:
            s[()] += (x[i] - mean) * (x[i] - mean)
        y[...] = 0
        ln.freeze(s)
        for i in ...:
            y[i] = (x[i] - mean) / s[()]
        ln.freeze(y)
        return y

    check(before, after)


def test_a_parameter_declared_in_a_loop():
    def before(y, x, A):
        for _t in range(10):
            y[...] = 0
            for i, j in ...:
                y[i] += A[i, j] * x[j]
            x[...] = 0
            for i in ...:
                x[i] = y[i]

    def after(y, x, A):
        for _t in range(10):
            y[...] = 0
            for i, j in ...:
                y[i] += A[i, j] * x[j]
            x[...] = 0
            ln.freeze(y)
            for i in ...:
                x[i] = y[i]
            ln.freeze(x)
        return y, x

    check(before, after)


def test_declared_again_in_an_inner_block():
    def before(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i]
        if x[0] > 0:
            y[...] = 1
            y[0] = 2
        y[1] += 3

    def after(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i]
        ln.freeze(y)
        if x[0] > 0:
            y[...] = 1
            y[0] = 2
            ln.freeze(y)
        ln.thaw(y)
        y[1] += 3
        ln.freeze(y)
        return y

    check(before, after)


def test_what_the_program_says_already_is_kept():
    def before(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i]
        ln.freeze(y)
        ln.freeze(y)
        ln.thaw(y)
        for i in ...:
            y[i] += x[i]

    def after(y, x):
        y[...] = 0
        for i in ...:
            y[i] = x[i]
        ln.freeze(y)
        ln.thaw(y)
        for i in ...:
            y[i] += x[i]
        ln.freeze(y)
        return y

    check(before, after)
