// y = A x, A stored by rows or by columns.
#include "result.h"

// A long row has four accumulators, so that its additions do not wait for each other; in a short
// one, setting them up would cost more than it gains.
i64 by_rows(i64 n, const i32 *restrict ptr, const i32 *restrict idx, const double *restrict val,
            const double *restrict x, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        i64 q = ptr[i], end = ptr[i + 1];
        double s = 0;
        if (end - q >= 32) {
            double t = 0, u = 0, v = 0;
            for (; q + 3 < end; q += 4) {
                s += val[q] * x[idx[q]];
                t += val[q + 1] * x[idx[q + 1]];
                u += val[q + 2] * x[idx[q + 2]];
                v += val[q + 3] * x[idx[q + 3]];
            }
            s = (s + t) + (u + v);
        }
        for (; q < end; q++) s += val[q] * x[idx[q]];
        y[i] = s;
    }
    return 0;
}

i64 by_columns(i64 rows, i64 columns, const i32 *restrict ptr, const i32 *restrict idx,
               const double *restrict val, const double *restrict x, double *restrict y) {
    memset(y, 0, rows * sizeof(double));
    for (i64 j = 0; j < columns; j++) {
        double x_j = x[j];
        for (i64 q = ptr[j]; q < ptr[j + 1]; q++) y[idx[q]] += val[q] * x_j;
    }
    return 0;
}
