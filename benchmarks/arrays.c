// Parts and joints of CSR matrices: rows at given positions, matrices below and beside each other.
#include "result.h"

static int begin(Arrays *result, i64 rows, i64 stored) {
    return !new_ints(result, 0, rows + 1) || !new_ints(result, 1, stored) ||
           !new_values(result, stored);
}

// Append entries from q to end, their coordinates moved by `by`; returns the new end.
static inline i64 copy(Arrays *result, i64 n, i64 q, i64 end, const i32 *restrict idx,
                       const double *restrict val, i32 by) {
    i32 *restrict to = result->ints[1] + n;
    for (i64 k = q; k < end; k++) to[k - q] = idx[k] + by;
    memcpy(result->values + n, val + q, (end - q) * sizeof(double));
    return n + end - q;
}

i64 pick(i64 m, const i64 *at, const i32 *ptr, const i32 *idx, const double *val, Arrays *result) {
    i64 stored = 0;
    for (i64 i = 0; i < m; i++) stored += ptr[at[i] + 1] - ptr[at[i]];
    if (begin(result, m, stored)) return 1;
    i64 n = result->ints[0][0] = 0;
    for (i64 i = 0; i < m; i++) {
        n = copy(result, n, ptr[at[i]], ptr[at[i] + 1], idx, val, 0);
        result->ints[0][i + 1] = n;
    }
    return 0;
}

i64 below(i64 rows, const i32 *A_ptr, const i32 *A_idx, const double *A_val, const i32 *B_ptr,
          const i32 *B_idx, const double *B_val, Arrays *result) {
    i64 first = A_ptr[rows], stored = first + B_ptr[rows];
    if (begin(result, 2 * rows, stored)) return 1;
    memcpy(result->ints[0], A_ptr, (rows + 1) * sizeof(i32));
    for (i64 i = 1; i <= rows; i++) result->ints[0][rows + i] = first + B_ptr[i];
    copy(result, 0, 0, first, A_idx, A_val, 0);
    copy(result, first, 0, B_ptr[rows], B_idx, B_val, 0);
    return 0;
}

i64 beside(i64 rows, i64 columns, const i32 *A_ptr, const i32 *A_idx, const double *A_val,
           const i32 *B_ptr, const i32 *B_idx, const double *B_val, Arrays *result) {
    if (begin(result, rows, A_ptr[rows] + B_ptr[rows])) return 1;
    i64 n = result->ints[0][0] = 0;
    for (i64 i = 0; i < rows; i++) {
        n = copy(result, n, A_ptr[i], A_ptr[i + 1], A_idx, A_val, 0);
        n = copy(result, n, B_ptr[i], B_ptr[i + 1], B_idx, B_val, columns);
        result->ints[0][i + 1] = n;
    }
    return 0;
}
