// C = A B by rows (Gustavson): scatter each row into a dense workspace, sort what was touched.
#include "result.h"

// The touched coordinates in order, found by looking at every flag, eight at a time.
static i64 sweep(const char *seen, i64 m, i32 *list) {
    i64 count = 0, j = 0;
    for (; j + 7 < m; j += 8) {
        uint64_t flags;
        memcpy(&flags, seen + j, 8);
        for (; flags; flags &= flags - 1) list[count++] = j + __builtin_ctzll(flags) / 8;
    }
    for (; j < m; j++) if (seen[j]) list[count++] = j;
    return count;
}

i64 spgemm(i64 n, i64 m, const i32 *restrict A_ptr, const i32 *restrict A_idx,
           const double *restrict A_val, const i32 *restrict B_ptr, const i32 *restrict B_idx,
           const double *restrict B_val, Arrays *result) {
    char *restrict seen = calloc(m, 1);
    double *restrict w = malloc(m * sizeof(double));
    i32 *restrict list = malloc(m * sizeof(i32));
    i64 room = 2 * (A_ptr[n] + B_ptr[n]) + m, c = 0;
    i32 *restrict ptr = new_ints(result, 0, n + 1), *restrict idx = new_ints(result, 1, room);
    double *restrict val = new_values(result, room);
    if (!seen || !w || !list || !ptr || !idx || !val) return 1;
    ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        i64 count = 0;
        for (i64 p = A_ptr[i]; p < A_ptr[i + 1]; p++) {
            i64 k = A_idx[p];
            double a = A_val[p];
            for (i64 q = B_ptr[k]; q < B_ptr[k + 1]; q++) {
                i64 j = B_idx[q];
                if (seen[j]) w[j] += a * B_val[q];
                else { seen[j] = 1; list[count++] = j; w[j] = a * B_val[q]; }
            }
        }
        if (c + count > room) {
            room = 2 * (c + count);
            trim_ints(result, 1, room);
            trim_values(result, room);
            if (!(idx = result->ints[1]) || !(val = result->values)) return 1;
        }
        // Sorting takes about count * log(count) steps, sweeping one for each eight columns.
        if (count * 64 > m) sweep(seen, m, list);
        else sort_ints(list, count);
        for (i64 t = 0; t < count; t++) {
            i64 j = list[t];
            idx[c] = j;
            val[c++] = w[j];
            seen[j] = 0;
        }
        ptr[i + 1] = c;
    }
    trim_ints(result, 1, c);
    trim_values(result, c);
    free(seen);
    free(w);
    free(list);
    return 0;
}
