// Products over other semirings: a masked row times vector, and matrix times matrix by rows.
// The least of numbers is NaN if one of them is, as in NumPy and Linnet.
#include "result.h"

// y = mask ? min_j (A[i,j] + x[j]) : inf. The test for NaN beside the minimum waits for nothing.
i64 min_plus_mxv(i64 n, const i32 *ptr, const i32 *idx, const double *val, const double *x,
                 const uint8_t *mask, double *y) {
    for (i64 i = 0; i < n; i++) {
        double best = INFINITY;
        int nan = 0;
        if (mask[i])
            for (i64 p = ptr[i]; p < ptr[i + 1]; p++) {
                double d = val[p] + x[idx[p]];
                best = d < best ? d : best;
                nan |= d != d;
            }
        y[i] = nan ? NAN : best;
    }
    return 0;
}

// y = mask ? any_j x[j] where A stores something : false
i64 or_and_mxv(i64 n, const i32 *ptr, const i32 *idx, const uint8_t *x, const uint8_t *mask,
               uint8_t *y) {
    for (i64 i = 0; i < n; i++) {
        uint8_t found = 0;
        if (mask[i])
            for (i64 p = ptr[i]; p < ptr[i + 1]; p++)
                if (x[idx[p]]) {
                    found = 1;
                    break;
                }
        y[i] = found;
    }
    return 0;
}

// C[i,j] = min_k (A[i,k] + B[k,j]), by rows, sorted.
i64 min_plus_mxm(i64 n, i64 m, const i32 *A_ptr, const i32 *A_idx, const double *A_val,
                 const i32 *B_ptr, const i32 *B_idx, const double *B_val, Arrays *result) {
    i64 most = 0;
    for (i64 p = 0; p < A_ptr[n]; p++) most += B_ptr[A_idx[p] + 1] - B_ptr[A_idx[p]];
    i32 *restrict ptr = new_ints(result, 0, n + 1), *restrict idx = new_ints(result, 1, most);
    double *restrict val = new_values(result, most), *restrict row = malloc(m * sizeof(double));
    uint8_t *restrict seen = calloc(m, 1);
    if (!ptr || !idx || !val || !row || !seen) return 1;
    i64 end = 0;
    ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        i64 begin = end;
        for (i64 p = A_ptr[i]; p < A_ptr[i + 1]; p++) {
            i64 k = A_idx[p];
            for (i64 q = B_ptr[k]; q < B_ptr[k + 1]; q++) {
                i32 j = B_idx[q];
                double d = A_val[p] + B_val[q];
                if (!seen[j]) {
                    seen[j] = 1;
                    row[j] = d;
                    idx[end++] = j;
                } else if (!(d >= row[j])) row[j] = row[j] != row[j] ? row[j] : d;
            }
        }
        sort_ints(idx + begin, end - begin);
        for (i64 t = begin; t < end; t++) {
            val[t] = row[idx[t]];
            seen[idx[t]] = 0;
        }
        ptr[i + 1] = end;
    }
    free(row);
    free(seen);
    trim_ints(result, 1, end);
    trim_values(result, end);
    return 0;
}

// C[i,j] = M[i,j] * sum_k A[i,k] * B[k,j], by rows: only what M stores is added up.
i64 masked_mxm(i64 n, i64 m, const i32 *A_ptr, const i32 *A_idx, const double *A_val,
               const i32 *B_ptr, const i32 *B_idx, const double *B_val, const i32 *M_ptr,
               const i32 *M_idx, const double *M_val, Arrays *result) {
    i64 most = M_ptr[n];
    i32 *restrict ptr = new_ints(result, 0, n + 1), *restrict idx = new_ints(result, 1, most);
    double *restrict val = new_values(result, most), *restrict row = malloc(m * sizeof(double));
    uint8_t *restrict state = calloc(m, 1);  // 1: needed, 2: there
    if (!ptr || !idx || !val || !row || !state) return 1;
    i64 end = 0;
    ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        for (i64 p = M_ptr[i]; p < M_ptr[i + 1]; p++) {
            state[M_idx[p]] = 1;
            row[M_idx[p]] = 0;
        }
        if (M_ptr[i] < M_ptr[i + 1])
            for (i64 p = A_ptr[i]; p < A_ptr[i + 1]; p++) {
                i64 k = A_idx[p];
                for (i64 q = B_ptr[k]; q < B_ptr[k + 1]; q++) {
                    i32 j = B_idx[q];
                    if (state[j]) {
                        row[j] += A_val[p] * B_val[q];
                        state[j] = 2;
                    }
                }
            }
        for (i64 p = M_ptr[i]; p < M_ptr[i + 1]; p++) {
            i32 j = M_idx[p];
            if (state[j] == 2) {
                val[end] = row[j] * M_val[p];
                idx[end++] = j;
            }
            state[j] = 0;
        }
        ptr[i + 1] = end;
    }
    free(row);
    free(state);
    trim_ints(result, 1, end);
    trim_values(result, end);
    return 0;
}
