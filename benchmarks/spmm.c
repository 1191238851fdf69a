// Y = A X, A by rows, X and Y dense and row-major with m columns.
#include "result.h"

// Four stored values at a time: a row of Y is loaded and stored a quarter as often.
i64 spmm(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict idx,
         const double *restrict val, const double *restrict X, double *restrict Y) {
    for (i64 i = 0; i < n; i++) {
        double *restrict y = Y + i * m;
        memset(y, 0, m * sizeof(double));
        i64 q = ptr[i], end = ptr[i + 1];
        for (; q + 3 < end; q += 4) {
            double a = val[q], b = val[q + 1], c = val[q + 2], d = val[q + 3];
            const double *restrict s = X + idx[q] * m, *restrict t = X + idx[q + 1] * m;
            const double *restrict u = X + idx[q + 2] * m, *restrict v = X + idx[q + 3] * m;
            for (i64 k = 0; k < m; k++) y[k] += (a * s[k] + b * t[k]) + (c * u[k] + d * v[k]);
        }
        for (; q < end; q++) {
            const double *restrict x = X + idx[q] * m;
            double a = val[q];
            for (i64 k = 0; k < m; k++) y[k] += a * x[k];
        }
    }
    return 0;
}

// The loops as they are usually written: i, then j, then k.
i64 spmm_plain(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict idx,
               const double *restrict val, const double *restrict X, double *restrict Y) {
    for (i64 i = 0; i < n; i++) {
        double *restrict y = Y + i * m;
        memset(y, 0, m * sizeof(double));
        for (i64 q = ptr[i]; q < ptr[i + 1]; q++) {
            const double *restrict x = X + idx[q] * m;
            double a = val[q];
            for (i64 k = 0; k < m; k++) y[k] += a * x[k];
        }
    }
    return 0;
}
