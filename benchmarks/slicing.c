// C = A[window] + B[window]: rows and columns from a start, `step` apart.
#include "result.h"

static i64 seek(const i32 *idx, i64 lo, i64 hi, i64 x) {
    while (lo < hi) {
        i64 m = lo + (hi - lo) / 2;
        if (idx[m] < x) lo = m + 1;
        else hi = m;
    }
    return lo;
}

i64 add_windows(i64 rows, i64 columns, i64 row, i64 column, i64 step, const i32 *A_ptr,
                const i32 *A_idx, const double *A_val, const i32 *B_ptr, const i32 *B_idx,
                const double *B_val, Arrays *result) {
    i64 most = 0, stop = column + columns * step;
    for (i64 i = 0; i < rows; i++) {
        i64 r = row + i * step;
        most += A_ptr[r + 1] - A_ptr[r] + B_ptr[r + 1] - B_ptr[r];
    }
    i32 *restrict ptr = new_ints(result, 0, rows + 1), *restrict idx = new_ints(result, 1, most);
    double *restrict val = new_values(result, most);
    if (!ptr || !idx || !val) return 1;
    i64 n = 0;
    ptr[0] = 0;
    for (i64 i = 0; i < rows; i++) {
        i64 r = row + i * step;
        i64 p = seek(A_idx, A_ptr[r], A_ptr[r + 1], column), p_end = A_ptr[r + 1];
        i64 q = seek(B_idx, B_ptr[r], B_ptr[r + 1], column), q_end = B_ptr[r + 1];
        if (step == 1) {
            p_end = seek(A_idx, p, p_end, stop);
            q_end = seek(B_idx, q, q_end, stop);
        }
        for (;;) {
            if (step > 1) {
                while (p < p_end && (A_idx[p] - column) % step) p++;
                while (q < q_end && (B_idx[q] - column) % step) q++;
            }
            i64 a = p < p_end && A_idx[p] < stop ? A_idx[p] : stop;
            i64 b = q < q_end && B_idx[q] < stop ? B_idx[q] : stop;
            i64 j = a < b ? a : b;
            if (j == stop) break;
            val[n] = (a == j ? A_val[p++] : 0) + (b == j ? B_val[q++] : 0);
            idx[n++] = (j - column) / step;
        }
        ptr[i + 1] = n;
    }
    trim_ints(result, 1, n);
    trim_values(result, n);
    return 0;
}
