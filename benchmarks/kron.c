// Kronecker product as a tensor: C[i,k,j,l] = A[i,j] B[k,l]; i and k dense, j and l compressed.
#include "result.h"

i64 kron(i64 n, i64 m, const i32 *restrict A_ptr, const i32 *restrict A_idx,
         const double *restrict A_val, const i32 *restrict B_ptr, const i32 *restrict B_idx,
         const double *restrict B_val, Arrays *result) {
    i64 pairs = A_ptr[n] * m, stored = (i64)A_ptr[n] * B_ptr[m], c = 0, d = 0;
    i32 *restrict ptr2 = new_ints(result, 0, n * m + 1), *restrict idx2 = new_ints(result, 1, pairs);
    i32 *restrict ptr3 = new_ints(result, 2, pairs + 1), *restrict idx3 = new_ints(result, 3, stored);
    double *restrict val = new_values(result, stored);
    if (!ptr2 || !idx2 || !ptr3 || !idx3 || !val) return 1;
    ptr2[0] = ptr3[0] = 0;
    for (i64 i = 0; i < n; i++)
        for (i64 k = 0; k < m; k++) {
            i64 begin = B_ptr[k], end = B_ptr[k + 1];
            // A row of B without entries has no subfibers in C.
            if (begin < end)
                for (i64 p = A_ptr[i]; p < A_ptr[i + 1]; p++) {
                    double a = A_val[p];
                    for (i64 q = begin; q < end; q++) {
                        idx3[d + q - begin] = B_idx[q];
                        val[d + q - begin] = a * B_val[q];
                    }
                    d += end - begin;
                    idx2[c++] = A_idx[p];
                    ptr3[c] = d;
                }
            ptr2[i * m + k + 1] = c;
        }
    trim_ints(result, 1, c);
    trim_ints(result, 2, c + 1);
    return 0;
}
