"""Other libraries: NumPy's dispatch, SciPy's solvers, DLPack, Dask, xarray, networkx, notebooks."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from tests.api.operands import (
    close,
    cube,
    dense_matrix,
    filled_matrices,
    matrix,
    matrix_formats,
    same,
)

import linnet as ln


def test_ufuncs_of_numpy():
    x, a = matrix("csr")
    same(np.exp(x), np.exp(a))
    same(np.maximum(x, 1.0), np.maximum(a, 1.0))
    same(np.add.reduce(x, axis=1), np.add.reduce(a, axis=1))
    close(np.matmul(x, x.T), a @ a.T)
    same(np.multiply.outer(ln.arange(3), ln.arange(2)), np.multiply.outer(range(3), range(2)))
    target = np.zeros_like(a)
    np.add(x, x, out=target)
    np.testing.assert_array_equal(target, a + a)
    assert np.exp(x).fill_value == 1.0
    same(np.add(x, x, dtype=np.complex64), np.add(a, a, dtype=np.complex64))
    same(np.multiply(x, 2, casting="unsafe", where=True), a * 2)


CALLS: dict[str, Any] = {
    "sum": lambda x: np.sum(x, axis=0),
    "sum by position": lambda x: np.sum(x, 1),
    "mean": lambda x: np.mean(x, axis=1, keepdims=True),
    "max": np.max,
    "concatenate": lambda x: np.concatenate([x, x], axis=1),
    "stack": lambda x: np.stack([x, x]),
    "transpose": np.transpose,
    "reshape": lambda x: np.reshape(x, (3, 8)),
    "where": lambda x: np.where(x > 0, x, 0.0),
    "clip": lambda x: np.clip(x, 0.0, 1.0),
    "tensordot": lambda x: np.tensordot(x, x, axes=((0,), (0,))),
    "argmax": lambda x: np.argmax(x, axis=1),
    "cumsum": lambda x: np.cumsum(x, axis=0),
    "ravel": np.ravel,
    "norm": np.linalg.norm,
    "any": lambda x: np.any(x, axis=0),
    "zeros_like": np.zeros_like,
}


@pytest.mark.parametrize("name", list(CALLS))
def test_functions_of_numpy(name: str):
    x, a = matrix("csr")
    close(CALLS[name](x), CALLS[name](a))


def test_functions_that_are_not_here_are_refused():
    x, _ = matrix("csr")
    with pytest.raises(TypeError):
        np.histogram2d(x, x)
    with pytest.raises(TypeError):
        np.frompyfunc(abs, 1, 1)(x)


def test_solvers_of_scipy():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    A = 4.0 * ln.eye(9) - ln.eye(9, k=1) - ln.eye(9, k=-1)
    b = np.arange(9.0)
    for solve in (linalg.cg, linalg.gmres, linalg.bicgstab):
        x, status = solve(A, b, rtol=1e-12)
        assert status == 0
        np.testing.assert_allclose(A.to_numpy() @ x, b, atol=1e-9)
    operator = linalg.aslinearoperator(1j * A)
    np.testing.assert_allclose(operator.rmatvec(b), (1j * A.to_numpy()).conj().T @ b)


def test_what_numpy_makes_is_the_callers_to_write_to():
    """SciPy's operators take A @ x as an array, and solvers go on in its memory."""
    x = ln.asarray(np.eye(3)) @ np.ones(3)
    for array in (
        np.asarray(x),
        np.array(x),
        np.asarray(x, dtype=np.float64),
        x.to_numpy(copy=True),
    ):
        array -= 9
    np.testing.assert_array_equal(x.to_numpy(), np.ones(3))
    assert not x.to_numpy().flags.writeable
    assert np.asarray(x, dtype=np.float32).flags.writeable
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert np.shares_memory(np.asarray(x, copy=False), x.to_numpy())


def test_dlpack():
    x = ln.asarray(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(np.from_dlpack(x), x.to_numpy())
    same(ln.from_dlpack(np.arange(3)), np.arange(3))
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="not dense"):
        ln.eye(2).__dlpack__()


def test_pickles_hold_everything():
    x, a = matrix("csr", 1.5)
    y = pickle.loads(pickle.dumps(x))
    same(y, a)
    assert y.fill_value == 1.5


def test_dask_chunks():
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    x, a = matrix("csr")
    chunks = da.from_array(x, chunks=(2, 3), asarray=False)
    with dask.config.set(scheduler="synchronous"):
        same((chunks * 2 + chunks).compute(), a * 3)
        same(chunks.sum(axis=0).compute(), a.sum(0))
        close(da.tensordot(chunks, chunks.T, axes=1).compute(), a @ a.T)
    assert dask.base.tokenize(x) == dask.base.tokenize(x.copy())
    assert dask.base.tokenize(x) != dask.base.tokenize(x * 2)


def test_dask_chunks_are_tensors_all_along():
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    x, a = matrix("csr")
    chunks = da.from_array(x, chunks=(2, 3), asarray=False)
    assert isinstance(chunks._meta, ln.Tensor)
    with dask.config.set(scheduler="synchronous"):
        same(da.concatenate([chunks, chunks]).compute(), np.concatenate([a, a]))
        same(chunks[1:3].compute(), a[1:3])
        same(chunks.T.compute(), a.T)
        close(chunks.mean(axis=1).compute(), a.mean(1))
        close(chunks.map_blocks(ln.exp).compute(), np.exp(a))
    with dask.config.set(scheduler="threads", num_workers=2):
        close((chunks @ chunks.T).compute(), a @ a.T)
    same(pickle.loads(pickle.dumps(chunks)).compute(scheduler="synchronous"), a)


XARRAY: dict[str, Any] = {
    "arithmetic": lambda d: d * 2 + 1,
    "sum": lambda d: d.sum("i"),
    "mean": lambda d: d.mean("i"),
    "max": lambda d: d.max(),
    "var": lambda d: d.var("j"),
    "count": lambda d: d.count("i"),
    "prod": lambda d: d.prod("i"),
    "isnull": lambda d: d.isnull(),
    "fillna": lambda d: d.fillna(0.0),
    "where": lambda d: d.where(d > 0),
    "isel": lambda d: d.isel(i=slice(1, 3)),
    "sel": lambda d: d.sel(i=[0, 3]),
    "transpose": lambda d: d.T,
    "concat": lambda d: d.variable.concat([d.variable, d.variable], "k"),
    "groupby": lambda d: d.groupby("label").sum(),
    "groupby mean": lambda d: d.groupby("label").mean(),
    "reindex": lambda d: d.reindex(i=[0, 2, 9]),
    "shift": lambda d: d.shift(i=1),
    "cumsum": lambda d: d.cumsum("i"),
    "pad": lambda d: d.pad(i=1),
    "dot": lambda d: d.dot(d.rename(i="k"), dim="j"),
    "clip": lambda d: d.clip(-1.0, 1.0),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", list(XARRAY))
@pytest.mark.parametrize("fill", [0.0, np.nan])
def test_xarray(name: str, fill: float):
    xr = pytest.importorskip("xarray")
    x, a = matrix("csr", fill)
    coords = {"i": np.arange(4), "label": ("i", list("abab"))}
    inside, plain = (xr.DataArray(data, dims=("i", "j"), coords=coords) for data in (x, a))
    found, expected = XARRAY[name](inside), XARRAY[name](plain)
    assert isinstance(found.data, ln.Tensor)
    assert found.dims == expected.dims
    np.testing.assert_allclose(found.data.to_numpy(), expected.data, rtol=1e-12)


def test_torch():
    torch = pytest.importorskip("torch")
    x, a = matrix("csr")
    there = torch.from_numpy(a)
    for given in (there, there.to_sparse(), there.to_sparse_csr(), there.to_sparse_csc()):
        same(ln.asarray(given), a)
        close(x + given, a + a)
    for dense in (there.clone().requires_grad_(), there.T.contiguous().T, torch.tensor(3.0)):
        same(ln.asarray(dense), dense.detach().numpy())
    same(ln.asarray(torch.tensor([1 + 2j]).conj()), np.array([1 - 2j], np.complex64))
    close(x @ there.T, a @ a.T)
    close(there * x, a * a)
    np.testing.assert_array_equal(torch.from_dlpack(x.to(ln.DENSE)).numpy(), a)
    same(ln.from_dlpack(there), a)


def test_torch_tensors_of_many_dimensions():
    torch = pytest.importorskip("torch")
    x, a = cube("coo")
    there = torch.from_numpy(a)
    same(ln.asarray(there.to_sparse()), a)
    same(ln.asarray(there.to_sparse(1)), a)  # whose values are matrices
    same(ln.asarray(torch.ones(2, 4, 4).to_sparse_csr()), np.ones((2, 4, 4), np.float32))
    same(ln.asarray(torch.eye(4).to_sparse_bsr((2, 2))), np.eye(4, dtype=np.float32))
    np.testing.assert_array_equal(x.to_torch().to_dense().numpy(), a)


def test_tensors_as_those_of_torch():
    torch = pytest.importorskip("torch")
    x, a = matrix("csr")
    kinds = {"csr": torch.sparse_csr, "csc": torch.sparse_csc, "coo": torch.sparse_coo}
    for format, layout in kinds.items():
        out = x.to(format).to_torch()
        assert out.layout == layout
        np.testing.assert_array_equal(out.to_dense().numpy(), a)
    out = x.to(ln.DENSE).to_torch()
    out[0, 0] = 99.0  # memory of its own
    same(x, a)
    with pytest.raises(ValueError, match=r"what is not stored is 1\.5"):
        matrix("csr", 1.5)[0].to_torch()
    with pytest.raises(TypeError, match="bfloat16"):
        ln.asarray(torch.ones(2, dtype=torch.bfloat16))
    with pytest.raises(ValueError, match="no elements"):
        ln.asarray(torch.ones(2, device="meta"))


def test_pandas():
    pd = pytest.importorskip("pandas")
    x, a = matrix("csr")
    same(ln.asarray(pd.DataFrame(a)), a)
    same(ln.asarray(pd.Series([1.0, 2.0])), np.array([1.0, 2.0]))
    same(x[pd.Series([True, False, True, False])], a[::2])
    same(x[pd.Index([3, 0])], a[[3, 0]])
    labels = pd.Categorical(list("abab"))
    close(ln.groupby(x, labels).sum(), np.stack([a[::2].sum(0), a[1::2].sum(0)]))
    pytest.importorskip("scipy.sparse")
    for fill in (0.0, float("nan")):
        table = pd.DataFrame(a).astype(pd.SparseDtype(float, 0)).astype(pd.SparseDtype(float, fill))
        found = ln.asarray(table)
        same(found, table.to_numpy())
        assert found.nnz == sum(table.iloc[:, j].array.npoints for j in range(6)), fill
        np.testing.assert_equal(found.fill_value, fill)
    some = pd.arrays.SparseArray([1.0, 0.0], fill_value=1.0)
    with pytest.raises(ValueError, match="the same value"):
        ln.asarray(pd.DataFrame({"a": some, "b": pd.arrays.SparseArray([1.0, 0.0])}))


def test_anndata():
    """It holds arrays of a few libraries only: SciPy's, and Dask's, whose chunks may be ours."""
    anndata = pytest.importorskip("anndata")
    da = pytest.importorskip("dask.array")
    x, a = matrix("csr")
    held = anndata.AnnData(X=x.to_scipy("csr"))
    same(ln.asarray(held.X), a)
    held.X = ln.expm1(ln.asarray(held.X)).to_scipy("csr")
    close(ln.asarray(held.X), np.expm1(a))
    chunked = anndata.AnnData(X=da.from_array(x, chunks=(2, 6), asarray=False))
    same(chunked[1:3].X.compute(scheduler="synchronous"), a[1:3])
    with pytest.raises(ValueError, match="X needs to be of one of"):
        anndata.AnnData(X=x)


def test_networkx():
    nx = pytest.importorskip("networkx")
    graph = nx.path_graph(4)
    A = ln.asarray(graph)
    np.testing.assert_array_equal(A.to_numpy(), nx.to_numpy_array(graph))
    back = nx.from_scipy_sparse_array(A.to_scipy())
    assert nx.is_isomorphic(graph, back)
    directed = nx.DiGraph([(0, 1, {"weight": 3.0}), (1, 2)])
    np.testing.assert_array_equal(ln.asarray(directed).to_numpy(), nx.to_numpy_array(directed))
    assert ln.asarray(nx.Graph()).shape == (0, 0)


def test_notebooks_show_a_picture():
    text = ln.eye(1000)._repr_html_()
    assert "<svg" in text
    assert "1000 × 1000" in text
    assert "1000 (0.10%)" in text
    assert text.count("h1") == 60
    assert "not declared" not in text
    assert ln.asarray(3.0)._repr_html_() == "3.0"
    assert "open" in ln.empty_tensor(ln.CSR)._repr_html_()


@pytest.mark.parametrize("n", [3, 59, 60, 61, 120, 1000])
@pytest.mark.parametrize("density", [0.01, 0.3, 0.5, 1.0])
def test_pictures_in_notebooks_are_small(n, density):
    """A matrix with 10,000 entries took 358 kB."""
    random = np.random.default_rng(n)
    some = random.random((n, n)) < density * random.random((n, n)) * 2
    board = np.indices((n, n)).sum(0) % 2
    for array in (some * 1.0, board * 1.0):
        assert len(ln.asarray(array, format="csr")._repr_html_().encode()) < 30_000


@pytest.mark.parametrize("size", [10**15, 10**18])
@pytest.mark.parametrize("ndim", [1, 2, 3, 40, 1000])
def test_pictures_of_many_and_of_large_dimensions(ndim, size):
    """They were overflows, and texts as long as there are dimensions."""
    format = ln.SparseCOO(ndim, ln.Element())
    places = [np.arange(500) * (size // 500)] * ndim
    text = ln.tensor(places, np.ones(500), (size,) * ndim, format=format)._repr_html_()
    assert len(text.encode()) < 30_000
    assert text.count("h1") == 60 if ndim > 1 else "h60" in text
    lists = ln.Element()
    for _ in range(ndim):
        lists = ln.SparseRunList(lists)
    assert len(ln.empty_tensor(lists)._repr_html_()) < 1_000


def test_pictures_in_notebooks_show_what_is_there():
    x = ln.asarray([[1.0, 1.0, 0.0, 1.0], [0.0] * 4, [0.0, 1.0, 0.0, 0.0]], format="csr")
    assert 'd="M0 0.5h2m1 0h1M1 2.5h1" stroke-opacity="1.00"' in x._repr_html_()


def test_coordinates_and_data():
    x = ln.asarray([[0.0, 2.0], [3.0, 0.0]], format="csr")
    assert x.coords.tolist() == [[0, 1], [1, 0]]
    assert x.data.tolist() == [2.0, 3.0]
    same(ln.tensor(x.coords, x.data, x.shape), x.to_numpy())


@matrix_formats
def test_coordinates_and_data_are_not_written_to(format):
    """`A.data[0] = 99` was silently lost, since it was written to a copy."""
    x = matrix(format)[0]
    for given in (x, x.T, x > 0.5, x[1]):
        before = given.to_numpy(copy=True)
        with pytest.raises(ValueError, match="read-only"):
            given.data[:1] = 99
        with pytest.raises(ValueError, match="read-only"):
            given.coords[:1] = 0
        np.testing.assert_array_equal(given.to_numpy(), before)
        np.testing.assert_array_equal(before[tuple(given.coords)], given.data)
    assert x.data.size == x.coords.shape[1]
    if format in ("csr", "csc", "coo", "dcsr", "dense"):
        assert np.shares_memory(x.data, x.buffers["val"])


@matrix_formats
@pytest.mark.parametrize("dtype", ["float64", "complex64", "int32"])
@pytest.mark.parametrize("name", ["real", "imag", "diagonal"])
def test_parts_are_not_written_to(format, dtype, name):
    """`A.real[0, 0] = 99` was silently lost: what NumPy shows in its place is an array here."""
    x = matrix(format)[0].astype(dtype)
    one = np.dtype(dtype).type(1).real

    def part(of=x):
        found = getattr(of, name)
        return found() if callable(found) else found

    def assign(y):
        y[:1] = one

    for y in (part(), part(x.T)):
        before = y.to_numpy(copy=True)
        for write in (assign, lambda y: np.negative(y, out=y)):
            with pytest.raises(ln.errors.ArgumentError, match=f"what .{name} gives") as caught:
                write(y)
            assert f"{name}" in caught.value.why + caught.value.hint
        np.testing.assert_array_equal(y.to_numpy(), before)
    for own in (part().copy(), part() + part(), +part(), part().astype(dtype, copy=True)):
        own[:1] = one
        assert (own.to_numpy()[:1] == one).all()
    whole = part()
    whole += whole  # the name stands for another array from here on
    whole[:1] = one
    x[:1] = one
    assert (x.to_numpy()[:1] == one).all()


@pytest.mark.parametrize("name", ["data", "fill_value", "shape"])
def test_what_is_not_set_says_what_to_write(name):
    with pytest.raises(
        ln.errors.ArgumentError, match=rf"the {name} of an array is not set(.|\n)*try:"
    ):
        setattr(ln.eye(3), name, 1.0)


LABELS = np.array([3, 1, 3, 3])


def by_label(function: Any, a: Any, labels: Any = LABELS, axis: int = 0) -> Any:
    """What NumPy makes of each group."""
    parts = [np.compress(labels == key, a, axis) for key in np.unique(labels)]
    return np.stack([function(part, axis=axis) for part in parts], axis)


@filled_matrices
def test_groups(format: str, fill: float):
    x, a = matrix(format, fill)
    groups = ln.groupby(x, LABELS)
    assert groups.keys.tolist() == [1, 3]
    same(groups.count(), np.array([1, 3]))
    with np.errstate(invalid="ignore"):
        close(groups.sum(), by_label(np.sum, a))
        close(groups.mean(), by_label(np.mean, a))
        for name in ("max", "min", "any", "all"):
            same(getattr(groups, name)(), by_label(getattr(np, name), a))
        if np.isfinite(fill):
            found, expected = groups.var(), by_label(np.var, a)
            np.testing.assert_allclose(found.to_numpy(), expected, atol=1e-12)
            np.testing.assert_allclose(groups.std().to_numpy(), np.sqrt(expected), atol=1e-6)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "complex64"])
def test_groups_have_the_types_of_sums(dtype: str):
    a = np.abs(np.round(dense_matrix())).astype(dtype)
    groups = ln.groupby(ln.asarray(a, format="csr"), LABELS)
    close(groups.sum(), by_label(np.sum, a), 1e-6)
    close(groups.mean(), by_label(np.mean, a), 1e-6)
    assert groups.sum(acc_dtype="complex128", dtype="complex128").dtype == np.complex128


def test_groups_along_other_dimensions():
    x, a = cube("csf")
    labels = np.array(list("abba"))
    close(ln.groupby(x, labels, axis=1).sum(), by_label(np.sum, a, labels, 1))
    close(ln.groupby(x, labels, axis=1).max(), by_label(np.max, a, labels, 1))
    found = ln.groupby(x, list("abbaa"), axis=-1).var(ddof=1)
    expected = by_label(lambda p, axis: p.var(axis, ddof=1), a, np.array(list("abbaa")), 2)
    np.testing.assert_allclose(found.to_numpy(), expected, atol=1e-12)
    y, b = matrix("csc")
    columns = ln.groupby(y, [0, 1, 0, 1, 0, 1], axis=1).sum(format="csr")
    close(columns, by_label(np.sum, b, np.arange(6) % 2, 1))
    assert columns.format.name == "CSR"


def test_groups_for_several_arrays():
    x, a = matrix("csr")
    groups = ln.groupby(LABELS)
    close(groups.sum(x), by_label(np.sum, a))
    close(groups.sum(a), by_label(np.sum, a))
    with pytest.raises(ValueError, match="4 labels"):
        groups.sum(ln.eye(3))
    with pytest.raises(TypeError, match="which array"):
        groups.sum()
    with pytest.raises(TypeError, match="there is an array already"):
        ln.groupby(x, LABELS).mean(x)
    with pytest.raises(TypeError, match="cannot be put in order"):
        ln.groupby([None, "a"])


@pytest.mark.parametrize("kind", ["COO", "GCXS", "DOK"])
@pytest.mark.parametrize("fill", [0.0, 1.5, float("nan")])
def test_arrays_of_pydata_sparse(kind: str, fill: float):
    sparse = pytest.importorskip("sparse")
    dense = np.full((4, 5, 3), fill)
    dense[[0, 2, 3], [1, 4, 0], [2, 2, 0]] = [3.0, -1.0, 2.0]
    listed = sparse.COO.from_numpy(dense, fill_value=fill)
    found = ln.asarray(listed if kind == "COO" else listed.asformat(kind.lower()))
    assert (found.format, found.nnz) == (ln.asarray(listed).format, 3)
    assert np.array_equal(found.to_numpy(), dense, equal_nan=True)
    doubled = ln.asarray(dense) + listed.asformat(kind.lower())
    assert np.array_equal(doubled.to_numpy(), dense * 2, equal_nan=True)
