// Y[i,j,:] = sum_k A[i,j,k] M[k,:], M dense with m columns; Y keeps A's first two modes.
#include "result.h"

i64 ttm(i64 m, const i32 *restrict ptr0, const i32 *restrict idx0, const i32 *restrict ptr1,
        const i32 *restrict idx1, const i32 *restrict ptr2, const i32 *restrict idx2,
        const double *restrict val, const double *restrict M, Arrays *result) {
    i64 rows = ptr0[1], fibers = ptr1[rows];
    i32 *restrict Y_ptr0 = new_ints(result, 0, 2), *restrict Y_idx0 = new_ints(result, 1, rows);
    i32 *restrict Y_ptr1 = new_ints(result, 2, rows + 1);
    i32 *restrict Y_idx1 = new_ints(result, 3, fibers);
    double *restrict Y_val = new_values(result, fibers * m);
    if (!Y_ptr0 || !Y_idx0 || !Y_ptr1 || !Y_idx1 || !Y_val) return 1;
    Y_ptr0[0] = Y_ptr1[0] = 0;
    Y_ptr0[1] = rows;
    for (i64 p = 0; p < rows; p++) {
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            sum_rows(m, Y_val + q * m, ptr2[q], ptr2[q + 1], idx2, val, M);
            Y_idx1[q] = idx1[q];
        }
        Y_idx0[p] = idx0[p];
        Y_ptr1[p + 1] = ptr1[p + 1];
    }
    return 0;
}
