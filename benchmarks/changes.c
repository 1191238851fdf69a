// Kernels after a small change, as one would write them knowing that.
#include "result.h"

// The sum of all values: the rows lie one behind the other.
REASSOCIATE
double total(i64 n, const i32 *restrict ptr, const double *restrict val) {
    double s = 0;
    for (i64 q = ptr[0]; q < ptr[n]; q++) s += val[q];
    return s;
}

// Y = A X and Z = (A .* A) X: a row of X is loaded once for both, two rows at a time.
i64 two_products(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict idx,
                 const double *restrict val, const double *restrict X, double *restrict Y,
                 double *restrict Z) {
    for (i64 i = 0; i < n; i++) {
        double *restrict y = Y + i * m, *restrict z = Z + i * m;
        memset(y, 0, m * sizeof(double));
        memset(z, 0, m * sizeof(double));
        i64 q = ptr[i], end = ptr[i + 1];
        for (; q + 1 < end; q += 2) {
            double a = val[q], b = val[q + 1];
            const double *restrict s = X + idx[q] * m, *restrict t = X + idx[q + 1] * m;
            for (i64 k = 0; k < m; k++) {
                y[k] += a * s[k] + b * t[k];
                z[k] += a * a * s[k] + b * b * t[k];
            }
        }
        if (q < end) {
            double a = val[q];
            const double *restrict s = X + idx[q] * m;
            for (i64 k = 0; k < m; k++) {
                y[k] += a * s[k];
                z[k] += a * a * s[k];
            }
        }
    }
    return 0;
}

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

// What is below the diagonal of C = A B, by rows: each row of B is left where it reaches column i.
i64 below(i64 n, i64 m, const i32 *restrict A_ptr, const i32 *restrict A_idx,
          const double *restrict A_val, const i32 *restrict B_ptr, const i32 *restrict B_idx,
          const double *restrict B_val, Arrays *result) {
    char *restrict seen = calloc(m, 1);
    double *restrict w = malloc(m * sizeof(double));
    i32 *restrict list = malloc(m * sizeof(i32));
    i64 room = A_ptr[n] + B_ptr[n] + m, c = 0;
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
                if (j >= i) break;
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
        if (count * 64 > m) count = sweep(seen, i, list);
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

// y = A x for a list of rows.
i64 listed_rows(i64 n, i64 rows, const i32 *restrict row, const i32 *restrict ptr,
                const i32 *restrict idx, const double *restrict val, const double *restrict x,
                double *restrict y) {
    memset(y, 0, n * sizeof(double));
    for (i64 r = 0; r < rows; r++) {
        double s = 0;
        for (i64 q = ptr[r]; q < ptr[r + 1]; q++) s += val[q] * x[idx[q]];
        y[row[r]] = s;
    }
    return 0;
}

// y = A x in 32 bits.
i64 floats(i64 n, const i32 *restrict ptr, const i32 *restrict idx, const float *restrict val,
           const float *restrict x, float *restrict y) {
    for (i64 i = 0; i < n; i++) {
        i64 q = ptr[i], end = ptr[i + 1];
        float s = 0;
        if (end - q >= 32) {  // so that additions do not wait for each other
            float t = 0, u = 0, v = 0;
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
