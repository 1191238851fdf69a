// C[i,j] = A[i,j] * sum_k U[i,k] V[j,k] at the stored entries of A; U and V have m columns.
#include "result.h"

REASSOCIATE
i64 sddmm(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict idx,
          const double *restrict val, const double *restrict U, const double *restrict V,
          Arrays *out) {
    i64 stored = ptr[n];
    i32 *C_ptr = new_ints(out, 0, n + 1), *C_idx = new_ints(out, 1, stored);
    double *C_val = new_values(out, stored);
    if (!C_ptr || !C_idx || !C_val) return 1;
    C_ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        const double *restrict u = U + i * m;
        for (i64 q = ptr[i]; q < ptr[i + 1]; q++) {
            const double *restrict v = V + idx[q] * m;
            double s = 0;
            for (i64 k = 0; k < m; k++) s += u[k] * v[k];
            C_idx[q] = idx[q];
            C_val[q] = val[q] * s;
        }
        C_ptr[i + 1] = ptr[i + 1];
    }
    return 0;
}
