// The same matrix by columns: count, prefix sum, scatter.
#include "result.h"

i64 transpose(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict idx,
              const double *restrict val, Arrays *result) {
    i64 stored = ptr[n];
    i32 *restrict T_ptr = new_ints(result, 0, m + 1), *restrict T_idx = new_ints(result, 1, stored);
    double *restrict T_val = new_values(result, stored);
    if (!T_ptr || !T_idx || !T_val) return 1;
    memset(T_ptr, 0, (m + 1) * sizeof(i32));
    for (i64 q = 0; q < stored; q++) T_ptr[idx[q] + 1]++;
    for (i64 j = 0; j < m; j++) T_ptr[j + 1] += T_ptr[j];
    for (i64 i = 0; i < n; i++)
        for (i64 q = ptr[i]; q < ptr[i + 1]; q++) {
            i64 t = T_ptr[idx[q]]++;
            T_idx[t] = i;
            T_val[t] = val[q];
        }
    // Each start has moved to its end, which is the next one's start.
    memmove(T_ptr + 1, T_ptr, m * sizeof(i32));
    T_ptr[0] = 0;
    return 0;
}
