// y = A x, x sparse: by rows with a dense result, by columns with a sparse one.
#include "result.h"

i64 by_rows(i64 n, const i32 *restrict ptr, const i32 *restrict idx, const double *restrict val,
            i64 x_count, const i32 *restrict x_idx, const double *restrict x_val,
            double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        i64 p = ptr[i], end = ptr[i + 1], q = 0;
        double s = 0;
        while (p < end && q < x_count) {
            i32 a = idx[p], b = x_idx[q];
            if (a == b) s += val[p] * x_val[q];
            p += a <= b;
            q += b <= a;
        }
        y[i] = s;
    }
    return 0;
}

// The vector is unpacked first, where each row looks it up; the matrix is square.
i64 by_rows_unpacked(i64 n, const i32 *restrict ptr, const i32 *restrict idx,
                     const double *restrict val, i64 x_count, const i32 *restrict x_idx,
                     const double *restrict x_val, double *restrict y) {
    char *restrict stored = calloc(n, 1);
    double *restrict x = malloc(n * sizeof(double));
    if (!stored || !x) return 1;
    for (i64 q = 0; q < x_count; q++) {
        stored[x_idx[q]] = 1;
        x[x_idx[q]] = x_val[q];
    }
    for (i64 i = 0; i < n; i++) {
        double s = 0;
        for (i64 p = ptr[i]; p < ptr[i + 1]; p++) if (stored[idx[p]]) s += val[p] * x[idx[p]];
        y[i] = s;
    }
    free(stored);
    free(x);
    return 0;
}

i64 by_columns(i64 n, const i32 *restrict ptr, const i32 *restrict idx, const double *restrict val,
               i64 x_count, const i32 *restrict x_idx, const double *restrict x_val, Arrays *out) {
    char *seen = calloc(n, 1);
    double *w = malloc(n * sizeof(double));
    i64 room = 0;
    for (i64 q = 0; q < x_count; q++) room += ptr[x_idx[q] + 1] - ptr[x_idx[q]];
    i32 *list = new_ints(out, 0, room < n ? room : n);
    if (!seen || !w || !list) return 1;
    i64 count = 0;
    for (i64 q = 0; q < x_count; q++) {
        i64 j = x_idx[q];
        double x = x_val[q];
        for (i64 p = ptr[j]; p < ptr[j + 1]; p++) {
            i64 i = idx[p];
            if (seen[i]) w[i] += val[p] * x;
            else { seen[i] = 1; list[count++] = i; w[i] = val[p] * x; }
        }
    }
    // Many entries: looking at every flag is cheaper than sorting.
    if (count > n / 32) for (i64 i = 0, k = 0; i < n; i++) { if (seen[i]) list[k++] = i; }
    else sort_ints(list, count);
    double *values = new_values(out, count);
    for (i64 k = 0; k < count; k++) values[k] = w[list[k]];
    trim_ints(out, 0, count);
    free(seen);
    free(w);
    return 0;
}
