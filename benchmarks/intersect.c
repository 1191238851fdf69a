// Element-wise product of matrices by rows, and the dot product of sparse vectors: intersections.
#include "result.h"

i64 multiply(i64 n, const i32 *restrict A_ptr, const i32 *restrict A_idx,
             const double *restrict A_val, const i32 *restrict B_ptr, const i32 *restrict B_idx,
             const double *restrict B_val, Arrays *result) {
    i64 most = A_ptr[n] < B_ptr[n] ? A_ptr[n] : B_ptr[n], c = 0;
    i32 *restrict ptr = new_ints(result, 0, n + 1), *restrict idx = new_ints(result, 1, most);
    double *restrict val = new_values(result, most);
    if (!ptr || !idx || !val) return 1;
    ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        i64 p = A_ptr[i], p_end = A_ptr[i + 1], q = B_ptr[i], q_end = B_ptr[i + 1];
        while (p < p_end && q < q_end) {
            i32 a = A_idx[p], b = B_idx[q];
            if (a == b) { idx[c] = a; val[c++] = A_val[p] * B_val[q]; }
            p += a <= b;
            q += b <= a;
        }
        ptr[i + 1] = c;
    }
    trim_ints(result, 1, c);
    trim_values(result, c);
    return 0;
}

double dot(i64 p_end, const i32 *restrict a_idx, const double *restrict a_val, i64 q_end,
           const i32 *restrict b_idx, const double *restrict b_val) {
    i64 p = 0, q = 0;
    double s = 0;
    while (p < p_end && q < q_end) {
        i32 a = a_idx[p], b = b_idx[q];
        if (a == b) s += a_val[p] * b_val[q];
        p += a <= b;
        q += b <= a;
    }
    return s;
}
