// C = A B by columns of A and rows of B: products are put into the row that they belong to, whose
// length is counted first; each row is then added up in a dense workspace, and sorted.
#include "result.h"

i64 outer(i64 n, i64 inner, i64 m, const i32 *restrict A_ptr, const i32 *restrict A_idx,
          const double *restrict A_val, const i32 *restrict B_ptr, const i32 *restrict B_idx,
          const double *restrict B_val, Arrays *result) {
    i64 *restrict end = calloc(n + 1, sizeof(i64));
    char *restrict seen = calloc(m, 1);
    double *restrict w = malloc(m * sizeof(double));
    if (!end || !seen || !w) return 1;
    for (i64 k = 0; k < inner; k++)
        for (i64 p = A_ptr[k]; p < A_ptr[k + 1]; p++) end[A_idx[p]] += B_ptr[k + 1] - B_ptr[k];
    i64 total = 0;
    for (i64 i = 0; i <= n; i++) {
        i64 count = end[i];
        end[i] = total;
        total += count;
    }
    i32 *restrict js = allocate(total * sizeof(i32)), *restrict list = malloc(m * sizeof(i32));
    double *restrict vs = allocate(total * sizeof(double));
    i32 *restrict ptr = new_ints(result, 0, n + 1), *restrict idx = new_ints(result, 1, total);
    double *restrict val = new_values(result, total);
    if (!js || !list || !vs || !ptr || !idx || !val) return 1;
    for (i64 k = 0; k < inner; k++)
        for (i64 p = A_ptr[k]; p < A_ptr[k + 1]; p++) {
            i64 at = end[A_idx[p]];
            double a = A_val[p];
            for (i64 q = B_ptr[k]; q < B_ptr[k + 1]; q++, at++) {
                js[at] = B_idx[q];
                vs[at] = a * B_val[q];
            }
            end[A_idx[p]] = at;
        }
    i64 c = 0, begin = 0;
    ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        i64 count = 0;
        for (i64 q = begin; q < end[i]; q++) {
            i64 j = js[q];
            if (seen[j]) w[j] += vs[q];
            else { seen[j] = 1; list[count++] = j; w[j] = vs[q]; }
        }
        begin = end[i];
        sort_ints(list, count);
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
    free(end);
    free(seen);
    free(w);
    free(js);
    free(list);
    free(vs);
    return 0;
}
