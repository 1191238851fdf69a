// Counts per row scaled to a target, log1p of them, and their means and variances per column: the
// rows are swept twice for the means and twice for the variances, and nothing is stored.
#include "result.h"

static REASSOCIATE double row_sum(const float *val, i64 p, i64 end) {
    double total = 0;
    for (; p < end; p++) total += val[p];
    return total;
}

i64 statistics(i64 n, i64 m, const i32 *ptr, const i32 *idx, const float *val, double target,
               double *out) {
    double *restrict mean = out, *restrict var = out + m;
    i64 *restrict count = calloc(m, sizeof(i64));
    if (!count) return 1;
    memset(out, 0, 2 * m * sizeof(double));
    for (i64 i = 0; i < n; i++) {
        double scale = target / row_sum(val, ptr[i], ptr[i + 1]);
        for (i64 p = ptr[i]; p < ptr[i + 1]; p++) mean[idx[p]] += log1p(val[p] * scale);
    }
    for (i64 j = 0; j < m; j++) mean[j] /= n;
    for (i64 i = 0; i < n; i++) {
        double scale = target / row_sum(val, ptr[i], ptr[i + 1]);
        for (i64 p = ptr[i]; p < ptr[i + 1]; p++) {
            double d = log1p(val[p] * scale) - mean[idx[p]];
            var[idx[p]] += d * d;
            count[idx[p]]++;
        }
    }
    for (i64 j = 0; j < m; j++) var[j] = (var[j] + (n - count[j]) * mean[j] * mean[j]) / n;
    free(count);
    return 0;
}
