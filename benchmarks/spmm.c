// Y = A X, A by rows, X and Y dense and row-major with m columns.
#include "result.h"

i64 spmm(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict idx,
         const double *restrict val, const double *restrict X, double *restrict Y) {
    for (i64 i = 0; i < n; i++) sum_rows(m, Y + i * m, ptr[i], ptr[i + 1], idx, val, X);
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
