// Y[i,j] = sum_k A[i,j,k] x[k], A compressed in all three modes; Y keeps its first two, of which it
// stores what A stores anything for: the format allows fibers that are empty.
#include "result.h"

i64 ttv(const i32 *restrict ptr0, const i32 *restrict idx0, const i32 *restrict ptr1,
        const i32 *restrict idx1, const i32 *restrict ptr2, const i32 *restrict idx2,
        const double *restrict val, const double *restrict x, Arrays *result) {
    i64 rows = ptr0[1], fibers = ptr1[rows];
    i32 *restrict Y_ptr0 = new_ints(result, 0, 2), *restrict Y_idx0 = new_ints(result, 1, rows);
    i32 *restrict Y_ptr1 = new_ints(result, 2, rows + 1);
    i32 *restrict Y_idx1 = new_ints(result, 3, fibers);
    double *restrict Y_val = new_values(result, fibers);
    if (!Y_ptr0 || !Y_idx0 || !Y_ptr1 || !Y_idx1 || !Y_val) return 1;
    Y_ptr0[0] = Y_ptr1[0] = 0;
    i64 kept = 0, t = 0;
    for (i64 p = 0; p < rows; p++) {
        i64 start = t;
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            double s = 0;
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) s += val[r] * x[idx2[r]];
            if (ptr2[q] == ptr2[q + 1]) continue;
            Y_idx1[t] = idx1[q];
            Y_val[t++] = s;
        }
        if (t == start) continue;
        Y_idx0[kept++] = idx0[p];
        Y_ptr1[kept] = t;
    }
    Y_ptr0[1] = kept;
    trim_ints(result, 1, kept), trim_ints(result, 2, kept + 1);
    trim_ints(result, 3, t), trim_values(result, t);
    return 0;
}

// The same of an A that is known to have no empty fibers: its structure is that of Y.
i64 ttv_full(const i32 *restrict ptr0, const i32 *restrict idx0, const i32 *restrict ptr1,
             const i32 *restrict idx1, const i32 *restrict ptr2, const i32 *restrict idx2,
             const double *restrict val, const double *restrict x, Arrays *result) {
    i64 rows = ptr0[1], fibers = ptr1[rows];
    i32 *restrict Y_ptr0 = new_ints(result, 0, 2), *restrict Y_idx0 = new_ints(result, 1, rows);
    i32 *restrict Y_ptr1 = new_ints(result, 2, rows + 1);
    i32 *restrict Y_idx1 = new_ints(result, 3, fibers);
    double *restrict Y_val = new_values(result, fibers);
    if (!Y_ptr0 || !Y_idx0 || !Y_ptr1 || !Y_idx1 || !Y_val) return 1;
    Y_ptr0[0] = Y_ptr1[0] = 0;
    Y_ptr0[1] = rows;
    for (i64 p = 0; p < rows; p++) {
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            double s = 0;
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) s += val[r] * x[idx2[r]];
            Y_idx1[q] = idx1[q];
            Y_val[q] = s;
        }
        Y_idx0[p] = idx0[p];
        Y_ptr1[p + 1] = ptr1[p + 1];
    }
    return 0;
}
