// What benchmarks/schedules.py computes, in the order of its schedules, as one writes it by hand.
#include "result.h"

static inline i64 until(i64 a, i64 b) { return a < b ? a : b; }

// A long row has four accumulators, as in spmv.c.
static inline double product(const i32 *restrict idx, const double *restrict val,
                             const double *restrict x, i64 q, i64 end) {
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
    return s;
}

// split(i, i0, i1, size)
i64 spmv_rows(i64 n, i64 size, const i32 *restrict ptr, const i32 *restrict idx,
              const double *restrict val, const double *restrict x, double *restrict y) {
    for (i64 i0 = 0; i0 < n; i0 += size)
        for (i64 i = i0; i < until(n, i0 + size); i++)
            y[i] = product(idx, val, x, ptr[i], ptr[i + 1]);
    return 0;
}

// split(i, i0, i1, size) reorder(i1, i0, j)
i64 spmv_strided(i64 n, i64 size, const i32 *restrict ptr, const i32 *restrict idx,
                 const double *restrict val, const double *restrict x, double *restrict y) {
    for (i64 i1 = 0; i1 < size; i1++)
        for (i64 i = i1; i < n; i += size) y[i] = product(idx, val, x, ptr[i], ptr[i + 1]);
    return 0;
}

// split(i, i0, i1, rows) split(j, j0, j1, columns) reorder(i0, j0, i1, j1). Where a row stands is
// kept from one tile to the next.
i64 spmv_tiles(i64 n, i64 m, i64 rows, i64 columns, const i32 *restrict ptr,
               const i32 *restrict idx, const double *restrict val, const double *restrict x,
               double *restrict y) {
    i32 *restrict at = malloc(rows * sizeof(i32));
    if (!at) return 1;
    for (i64 i0 = 0; i0 < n; i0 += rows) {
        i64 last = until(n, i0 + rows);
        for (i64 i = i0; i < last; i++) at[i - i0] = ptr[i], y[i] = 0;
        for (i64 j0 = 0; j0 < m; j0 += columns) {
            i64 bound = until(m, j0 + columns);
            for (i64 i = i0; i < last; i++) {
                i64 q = at[i - i0], end = ptr[i + 1];
                double s = y[i];
                for (; q < end && idx[q] < bound; q++) s += val[q] * x[idx[q]];
                at[i - i0] = q, y[i] = s;
            }
        }
    }
    free(at);
    return 0;
}

// collapse(i, j, f) pos(f, p, A) split(p, p0, p1, size). The row goes on from part to part.
i64 spmv_positions(i64 n, i64 size, const i32 *restrict ptr, const i32 *restrict idx,
                   const double *restrict val, const double *restrict x, double *restrict y) {
    memset(y, 0, n * sizeof(double));
    for (i64 p0 = 0, i = 0; p0 < ptr[n]; p0 += size) {
        i64 p_end = until(ptr[n], p0 + size);
        for (i64 p = p0;; i++) {
            i64 end = until(ptr[i + 1], p_end);
            y[i] += product(idx, val, x, p, end);
            p = end;
            if (p == p_end) break;
        }
    }
    return 0;
}

// pos(j, p, A) split(p, p0, p1, 8)
REASSOCIATE
i64 spmv_parts_of_rows(i64 n, const i32 *restrict ptr, const i32 *restrict idx,
                       const double *restrict val, const double *restrict x, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        i64 q = ptr[i], end = ptr[i + 1];
        double s = 0;
        for (; q + 8 <= end; q += 8) {
            double t = 0;
            for (i64 k = 0; k < 8; k++) t += val[q + k] * x[idx[q + k]];
            s += t;
        }
        for (; q < end; q++) s += val[q] * x[idx[q]];
        y[i] = s;
    }
    return 0;
}

// c[0 … m] += the sum of val[q] * B[idx[q], 0 … m] for the entries from q to end, at most 8 of them:
// c is loaded and stored once for all of them.
static inline void eight_rows(i64 m, double *restrict c, i64 q, i64 end, const i32 *restrict idx,
                              const double *restrict val, const double *restrict B) {
    if (end - q == 8) {
        const double *restrict r[8];
        for (i64 t = 0; t < 8; t++) r[t] = B + idx[q + t] * m;
        double a = val[q], b = val[q + 1], d = val[q + 2], e = val[q + 3];
        double f = val[q + 4], g = val[q + 5], h = val[q + 6], l = val[q + 7];
        const double *restrict s = r[0], *restrict t = r[1], *restrict u = r[2], *restrict v = r[3];
        const double *restrict w = r[4], *restrict x = r[5], *restrict y = r[6], *restrict z = r[7];
        for (i64 k = 0; k < m; k++)
            c[k] += ((a * s[k] + b * t[k]) + (d * u[k] + e * v[k])) +
                    ((f * w[k] + g * x[k]) + (h * y[k] + l * z[k]));
        return;
    }
    for (; q + 2 <= end; q += 2) {
        const double *restrict s = B + idx[q] * m, *restrict t = B + idx[q + 1] * m;
        double a = val[q], b = val[q + 1];
        for (i64 k = 0; k < m; k++) c[k] += a * s[k] + b * t[k];
    }
    if (q < end) {
        const double *restrict s = B + idx[q] * m;
        double a = val[q];
        for (i64 k = 0; k < m; k++) c[k] += a * s[k];
    }
}

// split(i, i0, i1, 16) pos(j, jpos, A) split(jpos, jpos0, jpos1, 8) reorder(i0, i1, jpos0, k, jpos1)
i64 spmm(i64 n, i64 m, i64 size, const i32 *restrict ptr, const i32 *restrict idx,
         const double *restrict val, const double *restrict B, double *restrict C) {
    for (i64 i0 = 0; i0 < n; i0 += size)
        for (i64 i = i0; i < until(n, i0 + size); i++) {
            double *restrict c = C + i * m;
            memset(c, 0, m * sizeof(double));
            for (i64 q = ptr[i]; q < ptr[i + 1]; q += 8)
                eight_rows(m, c, q, until(ptr[i + 1], q + 8), idx, val, B);
        }
    return 0;
}

// split(i, i0, i1, 16) pos(k, kpos, B) split(kpos, kpos0, kpos1, 8) reorder(i0, i1, kpos0, j, kpos1),
// into an array
i64 sddmm_parts(i64 n, i64 columns, i64 m, i64 size, const i32 *restrict ptr,
                const i32 *restrict idx, const double *restrict val, const double *restrict C,
                const double *restrict D, double *restrict A) {
    memset(A, 0, n * columns * sizeof(double));
    for (i64 i0 = 0; i0 < n; i0 += size)
        for (i64 i = i0; i < until(n, i0 + size); i++)
            for (i64 q0 = ptr[i]; q0 < ptr[i + 1]; q0 += 8) {
                i64 many = until(8, ptr[i + 1] - q0);
                double t[8] = {0};
                if (many == 8) {
                    for (i64 j = 0; j < m; j++) {
                        double c = C[i * m + j];
                        const double *restrict d = D + j * columns;
                        for (i64 q = 0; q < 8; q++) t[q] += c * d[idx[q0 + q]];
                    }
                } else {
                    for (i64 j = 0; j < m; j++) {
                        double c = C[i * m + j];
                        const double *restrict d = D + j * columns;
                        for (i64 q = 0; q < many; q++) t[q] += c * d[idx[q0 + q]];
                    }
                }
                for (i64 q = 0; q < many; q++) A[i * columns + idx[q0 + q]] = val[q0 + q] * t[q];
            }
    return 0;
}

// split(i, i0, i1, 16) pos(k, kpos, B) split(kpos, kpos0, kpos1, 8), into CSR; D by columns
REASSOCIATE
i64 sddmm(i64 n, i64 m, i64 size, const i32 *restrict ptr, const i32 *restrict idx,
          const double *restrict val, const double *restrict C, const double *restrict D,
          Arrays *out) {
    i64 stored = ptr[n];
    i32 *A_ptr = new_ints(out, 0, n + 1), *A_idx = new_ints(out, 1, stored);
    double *A_val = new_values(out, stored);
    if (!A_ptr || !A_idx || !A_val) return 1;
    A_ptr[0] = 0;
    for (i64 i0 = 0; i0 < n; i0 += size)
        for (i64 i = i0; i < until(n, i0 + size); i++) {
            const double *restrict c = C + i * m;
            for (i64 q0 = ptr[i]; q0 < ptr[i + 1]; q0 += 8)
                for (i64 q = q0; q < until(ptr[i + 1], q0 + 8); q++) {
                    const double *restrict d = D + idx[q] * m;
                    double s = 0;
                    for (i64 j = 0; j < m; j++) s += c[j] * d[j];
                    A_idx[q] = idx[q], A_val[q] = val[q] * s;
                }
            A_ptr[i + 1] = ptr[i + 1];
        }
    return 0;
}

// pos(j, q, x) split(q, q0, q1, 16). What comes soon is fetched, as in spmspv.c.
i64 spmspv(i64 n, i64 many, const i32 *restrict ptr, const i32 *restrict idx,
           const double *restrict val, const i32 *restrict x_idx, const double *restrict x_val,
           double *restrict y) {
    memset(y, 0, n * sizeof(double));
    for (i64 q0 = 0; q0 < many; q0 += 16)
        for (i64 p = q0; p < until(many, q0 + 16); p++) {
            i64 far = x_idx[until(p + 16, many - 1)], soon = ptr[x_idx[until(p + 8, many - 1)]];
            __builtin_prefetch(ptr + far);
            __builtin_prefetch(idx + soon);
            __builtin_prefetch(val + soon);
            i64 j = x_idx[p];
            double x = x_val[p];
            for (i64 q = ptr[j]; q < ptr[j + 1]; q++) y[idx[q]] += val[q] * x;
        }
    return 0;
}

// collapse(i, j, f) pos(f, fpos, B) split(fpos, chunk, fpos2, 16), into an array
i64 ttv_dense(i64 n, i64 m, const i32 *restrict ptr0, const i32 *restrict idx0,
              const i32 *restrict ptr1, const i32 *restrict idx1, const i32 *restrict ptr2,
              const i32 *restrict idx2, const double *restrict val, const double *restrict c,
              double *restrict A) {
    memset(A, 0, n * m * sizeof(double));
    i64 fibers = ptr1[ptr0[1]];
    for (i64 q0 = 0, p = 0; q0 < fibers; q0 += 16)
        for (i64 q = q0, last = until(fibers, q0 + 16); q < last; p++) {
            double *restrict a = A + idx0[p] * m;
            i64 q_end = until(last, ptr1[p + 1]);
            for (; q < q_end; q++) {
                double s = 0;
                for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) s += val[r] * c[idx2[r]];
                a[idx1[q]] = s;
            }
            if (q < ptr1[p + 1]) break;  // the row goes on in the next chunk
        }
    return 0;
}

// the same into two levels that are sparse
i64 ttv_sparse(const i32 *restrict ptr0, const i32 *restrict idx0, const i32 *restrict ptr1,
               const i32 *restrict idx1, const i32 *restrict ptr2, const i32 *restrict idx2,
               const double *restrict val, const double *restrict c, Arrays *out) {
    i64 rows = ptr0[1], fibers = ptr1[rows];
    i32 *A_ptr = new_ints(out, 2, rows + 1), *A_idx = new_ints(out, 3, fibers);
    i32 *A_ptr0 = new_ints(out, 0, 2), *A_idx0 = new_ints(out, 1, rows);
    double *A_val = new_values(out, fibers);
    if (!A_ptr0 || !A_idx0 || !A_ptr || !A_idx || !A_val) return 1;
    A_ptr0[0] = A_ptr[0] = 0, A_ptr0[1] = rows;
    for (i64 q0 = 0, p = 0; q0 < fibers; q0 += 16)
        for (i64 q = q0; q < until(fibers, q0 + 16); q++) {
            for (; q >= ptr1[p + 1]; p++) A_idx0[p] = idx0[p], A_ptr[p + 1] = ptr1[p + 1];
            double s = 0;
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) s += val[r] * c[idx2[r]];
            A_idx[q] = idx1[q], A_val[q] = s;
        }
    if (rows) A_idx0[rows - 1] = idx0[rows - 1], A_ptr[rows] = fibers;
    return 0;
}

// collapse(i, j, f) pos(f, fpos, B) split(fpos, chunk, fpos2, 16) pos(k, kpos, B)
// split(kpos, kpos1, kpos2, 8) reorder(chunk, fpos2, kpos1, l, kpos2), into an array
i64 ttm(i64 n, i64 m, i64 rank, const i32 *restrict ptr0, const i32 *restrict idx0,
        const i32 *restrict ptr1, const i32 *restrict idx1, const i32 *restrict ptr2,
        const i32 *restrict idx2, const double *restrict val, const double *restrict C,
        double *restrict A) {
    memset(A, 0, n * m * rank * sizeof(double));
    i64 fibers = ptr1[ptr0[1]];
    for (i64 q0 = 0, p = 0; q0 < fibers; q0 += 16)
        for (i64 q = q0; q < until(fibers, q0 + 16); q++) {
            while (q >= ptr1[p + 1]) p++;
            double *restrict a = A + (idx0[p] * m + idx1[q]) * rank;
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r += 8)
                eight_rows(rank, a, r, until(ptr2[q + 1], r + 8), idx2, val, C);
        }
    return 0;
}

// split(i, i1, i2, size): the tiles of a dimension of which not every coordinate is stored
#define TILES_OF_ROWS(p)                                                       \
    for (i64 i1 = 0, p = ptr0[0]; i1 < n; i1 += size)                          \
        for (i64 bound = until(n, i1 + size); p < ptr0[1] && idx0[p] < bound; p++)

// split(i, i1, i2, size) reorder(i1, i2, k, l, j)
i64 mttkrp(i64 n, i64 m, i64 size, const i32 *restrict ptr0, const i32 *restrict idx0,
           const i32 *restrict ptr1, const i32 *restrict idx1, const i32 *restrict ptr2,
           const i32 *restrict idx2, const double *restrict val, const double *restrict C,
           const double *restrict D, double *restrict A) {
    memset(A, 0, n * m * sizeof(double));
    TILES_OF_ROWS(p) {
        double *restrict a = A + idx0[p] * m;
        i64 j0 = 0;
        for (; j0 + 16 <= m; j0 += 16) {  // 16 sums stay in registers
            double s[16] = {0};
            for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
                const double *restrict c = C + idx1[q] * m + j0;
                for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) {
                    const double *restrict d = D + idx2[r] * m + j0;
                    double b = val[r];
                    for (i64 t = 0; t < 16; t++) s[t] += b * d[t] * c[t];
                }
            }
            for (i64 t = 0; t < 16; t++) a[j0 + t] = s[t];
        }
        for (i64 q = ptr1[p]; j0 < m && q < ptr1[p + 1]; q++) {
            const double *restrict c = C + idx1[q] * m;
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) {
                const double *restrict d = D + idx2[r] * m;
                double b = val[r];
                for (i64 j = j0; j < m; j++) a[j] += b * d[j] * c[j];
            }
        }
    }
    return 0;
}

// the same with the product of B and D computed first
i64 mttkrp_precomputed(i64 n, i64 m, i64 size, const i32 *restrict ptr0, const i32 *restrict idx0,
                       const i32 *restrict ptr1, const i32 *restrict idx1,
                       const i32 *restrict ptr2, const i32 *restrict idx2,
                       const double *restrict val, const double *restrict C,
                       const double *restrict D, double *restrict A) {
    double w[m];
    memset(A, 0, n * m * sizeof(double));
    TILES_OF_ROWS(p) {
        double *restrict a = A + idx0[p] * m;
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            const double *restrict c = C + idx1[q] * m;
            sum_rows(m, w, ptr2[q], ptr2[q + 1], idx2, val, D);
            for (i64 j = 0; j < m; j++) a[j] += w[j] * c[j];
        }
    }
    return 0;
}

// split(i, i0, i1, size), CSR to CSR: the structure is that of A
i64 scale_rows(i64 n, i64 size, const i32 *restrict ptr, const i32 *restrict idx,
               const double *restrict val, Arrays *out) {
    i64 stored = ptr[n];
    i32 *C_ptr = new_ints(out, 0, n + 1), *C_idx = new_ints(out, 1, stored);
    double *C_val = new_values(out, stored);
    if (!C_ptr || !C_idx || !C_val) return 1;
    C_ptr[0] = 0;
    for (i64 i0 = 0; i0 < n; i0 += size) {
        i64 last = until(n, i0 + size);
        for (i64 q = ptr[i0]; q < ptr[last]; q++) C_idx[q] = idx[q], C_val[q] = val[q] * 2;
        for (i64 i = i0; i < last; i++) C_ptr[i + 1] = ptr[i + 1];
    }
    return 0;
}

// split(j, j0, j1, columns), CSR to CSR: a row goes on from tile to tile
i64 scale_columns(i64 n, i64 m, i64 columns, const i32 *restrict ptr, const i32 *restrict idx,
                  const double *restrict val, Arrays *out) {
    i64 stored = ptr[n];
    i32 *C_ptr = new_ints(out, 0, n + 1), *C_idx = new_ints(out, 1, stored);
    double *C_val = new_values(out, stored);
    if (!C_ptr || !C_idx || !C_val) return 1;
    C_ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        i64 q = ptr[i], end = ptr[i + 1];
        for (i64 j0 = 0; j0 < m; j0 += columns)
            for (; q < end && idx[q] < j0 + columns; q++) C_idx[q] = idx[q], C_val[q] = val[q] * 2;
        C_ptr[i + 1] = q;
    }
    return 0;
}

// split(i, i0, i1, size), the sum of two matrices
i64 add_rows(i64 n, i64 size, const i32 *restrict ptr, const i32 *restrict idx,
             const double *restrict val, const i32 *restrict ptr2, const i32 *restrict idx2,
             const double *restrict val2, Arrays *out) {
    i64 room = (i64)ptr[n] + ptr2[n], c = 0;
    i32 *C_ptr = new_ints(out, 0, n + 1), *C_idx = new_ints(out, 1, room);
    double *C_val = new_values(out, room);
    if (!C_ptr || !C_idx || !C_val) return 1;
    C_ptr[0] = 0;
    for (i64 i0 = 0; i0 < n; i0 += size)
        for (i64 i = i0; i < until(n, i0 + size); i++) {
            i64 p = ptr[i], p_end = ptr[i + 1], q = ptr2[i], q_end = ptr2[i + 1];
            while (p < p_end && q < q_end) {
                i32 a = idx[p], b = idx2[q];
                C_idx[c] = least(a, b);
                if (a == b) C_val[c++] = val[p++] + val2[q++];
                else if (a < b) C_val[c++] = val[p++];
                else C_val[c++] = val2[q++];
            }
            for (; p < p_end; p++) C_idx[c] = idx[p], C_val[c++] = val[p];
            for (; q < q_end; q++) C_idx[c] = idx2[q], C_val[c++] = val2[q];
            C_ptr[i + 1] = c;
        }
    trim_ints(out, 1, c), trim_values(out, c);
    return 0;
}

// split by 32 each, reorder(i0, j0, k0, i1, j1, k1): the sums of eight neighbours are vectors
i64 matmul_ijk(i64 n, const double *restrict A, const double *restrict B, double *restrict C) {
    memset(C, 0, n * n * sizeof(double));
    for (i64 i0 = 0; i0 < n; i0 += 32)
        for (i64 j0 = 0; j0 < n; j0 += 32)
            for (i64 k0 = 0; k0 < n; k0 += 32) {
                i64 i_end = until(n, i0 + 32), j_end = until(n, j0 + 32), k_end = until(n, k0 + 32);
                for (i64 i = i0; i < i_end; i++) {
                    i64 j = j0;
                    for (; j + 8 <= j_end; j += 8) {
                        double s[8];
                        for (i64 t = 0; t < 8; t++) s[t] = C[i * n + j + t];
                        for (i64 k = k0; k < k_end; k++)
                            for (i64 t = 0; t < 8; t++) s[t] += A[i * n + k] * B[k * n + j + t];
                        for (i64 t = 0; t < 8; t++) C[i * n + j + t] = s[t];
                    }
                    for (; j < j_end; j++) {
                        double s = C[i * n + j];
                        for (i64 k = k0; k < k_end; k++) s += A[i * n + k] * B[k * n + j];
                        C[i * n + j] = s;
                    }
                }
            }
    return 0;
}

// split by 32 each, reorder(i0, j0, k0, i1, k1, j1): a whole row of a tile stays in registers
i64 matmul_ikj(i64 n, const double *restrict A, const double *restrict B, double *restrict C) {
    memset(C, 0, n * n * sizeof(double));
    for (i64 i0 = 0; i0 < n; i0 += 32)
        for (i64 j0 = 0; j0 < n; j0 += 32)
            for (i64 k0 = 0; k0 < n; k0 += 32) {
                i64 i_end = until(n, i0 + 32), j_end = until(n, j0 + 32), k_end = until(n, k0 + 32);
                for (i64 i = i0; i < i_end; i++) {
                    double *restrict c = C + i * n + j0;
                    if (j_end - j0 == 32) {
                        double s[32];
                        for (i64 t = 0; t < 32; t++) s[t] = c[t];
                        for (i64 k = k0; k < k_end; k++)
                            for (i64 t = 0; t < 32; t++) s[t] += A[i * n + k] * B[k * n + j0 + t];
                        for (i64 t = 0; t < 32; t++) c[t] = s[t];
                        continue;
                    }
                    for (i64 k = k0; k < k_end; k++)
                        for (i64 j = j0; j < j_end; j++) c[j - j0] += A[i * n + k] * B[k * n + j];
                }
            }
    return 0;
}
