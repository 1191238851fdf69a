// Products of sparse matrices by Eigen, for the side `eigen` of benchmarks/eigen.py.
#include <Eigen/SparseCore>
#include <cstdint>

typedef Eigen::SparseMatrix<double, Eigen::RowMajor, int32_t> Matrix;
typedef Eigen::Map<const Matrix> Given;

extern "C" {

// A new matrix, sorted by rows and columns.
Matrix *product(int64_t n, int64_t inner, int64_t m, const int32_t *A_ptr, const int32_t *A_idx,
                const double *A_val, const int32_t *B_ptr, const int32_t *B_idx,
                const double *B_val) {
    Given A(n, inner, A_ptr[n], A_ptr, A_idx, A_val), B(inner, m, B_ptr[inner], B_ptr, B_idx, B_val);
    return new Matrix(A * B);
}

int64_t stored(const Matrix *C) { return C->nonZeros(); }

void copy(const Matrix *C, int32_t *ptr, int32_t *idx, double *val) {
    std::copy_n(C->outerIndexPtr(), C->rows() + 1, ptr);
    std::copy_n(C->innerIndexPtr(), C->nonZeros(), idx);
    std::copy_n(C->valuePtr(), C->nonZeros(), val);
}

void release(Matrix *C) { delete C; }
}
