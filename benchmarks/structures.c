// y = A x for matrices of one structure each, and a sum over runs.
#include "result.h"

// One block of neighbours in each row: `ofs` says where it is stored, `end` before which column it ends.
REASSOCIATE i64 band(i64 n, const i32 *restrict end, const i32 *restrict ofs,
                     const double *restrict val, const double *restrict x, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        i64 length = ofs[i + 1] - ofs[i];
        const double *a = val + ofs[i], *v = x + (end[i] - length);
        double s = 0;
        for (i64 k = 0; k < length; k++) s += a[k] * v[k];
        y[i] = s;
    }
    return 0;
}

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#ifdef __AVX512F__

// The lanes of a row are added up at its end; a mask ends a block, which takes no branch.
i64 blocks(i64 n, const i32 *restrict ptr, const i32 *restrict end, const i32 *restrict ofs,
           const double *restrict val, const double *restrict x, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        __m512d s = _mm512_setzero_pd();
        for (i64 t = ptr[i]; t < ptr[i + 1]; t++) {
            i64 length = ofs[t + 1] - ofs[t], k = 0;
            const double *a = val + ofs[t], *v = x + (end[t] - length);
            for (; k + 8 < length; k += 8)
                s = _mm512_fmadd_pd(_mm512_loadu_pd(a + k), _mm512_loadu_pd(v + k), s);
            __mmask8 rest = _bzhi_u32(255, length - k);
            __m512d last = _mm512_maskz_loadu_pd(rest, a + k);
            s = _mm512_fmadd_pd(last, _mm512_maskz_loadu_pd(rest, v + k), s);
        }
        y[i] = _mm512_reduce_add_pd(s);
    }
    return 0;
}
#elif defined(__AVX2__) && defined(__FMA__)
// The lanes of a row are added up at its end; what whole vectors leave of a block is seldom there.
i64 blocks(i64 n, const i32 *restrict ptr, const i32 *restrict end, const i32 *restrict ofs,
           const double *restrict val, const double *restrict x, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        __m256d s = _mm256_setzero_pd(), t = s;
        double r = 0;
        for (i64 b = ptr[i]; b < ptr[i + 1]; b++) {
            i64 length = ofs[b + 1] - ofs[b], k = 0;
            const double *a = val + ofs[b], *v = x + (end[b] - length);
            for (; k + 8 <= length; k += 8) {
                s = _mm256_fmadd_pd(_mm256_loadu_pd(a + k), _mm256_loadu_pd(v + k), s);
                t = _mm256_fmadd_pd(_mm256_loadu_pd(a + k + 4), _mm256_loadu_pd(v + k + 4), t);
            }
            for (; k < length; k++) r += a[k] * v[k];
        }
        s = _mm256_add_pd(s, t);
        __m128d h = _mm_add_pd(_mm256_castpd256_pd128(s), _mm256_extractf128_pd(s, 1));
        y[i] = r + h[0] + h[1];
    }
    return 0;
}
#else
REASSOCIATE i64 blocks(i64 n, const i32 *restrict ptr, const i32 *restrict end,
                       const i32 *restrict ofs, const double *restrict val,
                       const double *restrict x, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        double s = 0;
        for (i64 t = ptr[i]; t < ptr[i + 1]; t++) {
            i64 length = ofs[t + 1] - ofs[t];
            const double *a = val + ofs[t], *v = x + (end[t] - length);
            for (i64 k = 0; k < length; k++) s += a[k] * v[k];
        }
        y[i] = s;
    }
    return 0;
}
#endif

// Square tiles, as many rows at a time as one has, each with a vector of sums that are added up when all
// tiles are done; the last tile may reach beyond the matrix.
#define TILES(name, size)                                                                        \
    typedef double name##_row __attribute__((vector_size(8 * size), aligned(8)));                \
    i64 name(i64 n, const i32 *restrict ptr, const i32 *restrict idx, const i32 *restrict sub,   \
             const double *restrict val, const double *restrict x, double *restrict y) {         \
        for (i64 i = 0; i * size < n; i++) {                                                     \
            name##_row s[size] = {0};                                                            \
            double edge[size] = {0};                                                             \
            for (i64 q = ptr[i]; q < ptr[i + 1]; q++) {                                          \
                const double *a = val + sub[q] * size * size, *v = x + idx[q] * size;            \
                i64 left = n - idx[q] * (i64)size;                                               \
                if (left >= size) {                                                              \
                    const name##_row *rows = (const name##_row *)a, w = *(const name##_row *)v;  \
                    for (int r = 0; r < size; r++) s[r] += rows[r] * w;                          \
                } else                                                                           \
                    for (int r = 0; r < size; r++)                                               \
                        for (int c = 0; c < left; c++) edge[r] += a[r * size + c] * v[c];        \
            }                                                                                    \
            for (int r = 0; r < size; r++)                                                       \
                for (int c = 0; c < size; c++) edge[r] += s[r][c];                               \
            for (int r = 0; r < size && i * size + r < n; r++) y[i * size + r] = edge[r];        \
        }                                                                                        \
        return 0;                                                                                \
    }
TILES(tiles_4, 4)
TILES(tiles_8, 8)

i64 permutation(i64 n, const i32 *restrict idx, const double *restrict x, double *restrict y) {
    for (i64 i = 0; i < n; i++) y[i] = x[idx[i]];
    return 0;
}

// As in spmv.c, a long row has four sums.
i64 pattern(i64 n, const i32 *restrict ptr, const i32 *restrict idx, const double *restrict x,
            double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        i64 q = ptr[i], end = ptr[i + 1];
        double s = 0;
        if (end - q >= 32) {
            double t = 0, u = 0, v = 0;
            for (; q + 3 < end; q += 4) {
                s += x[idx[q]];
                t += x[idx[q + 1]];
                u += x[idx[q + 2]];
                v += x[idx[q + 3]];
            }
            s = (s + t) + (u + v);
        }
        for (; q < end; q++) s += x[idx[q]];
        y[i] = s;
    }
    return 0;
}

// The entries above the diagonal count twice; two at a time, so that no addition waits for another.
i64 symmetric(i64 n, const i32 *restrict ptr, const i32 *restrict idx, const double *restrict val,
              const double *restrict diagonal, const double *restrict x, double *restrict y) {
    memset(y, 0, n * sizeof(double));
    for (i64 i = 0; i < n; i++) {
        double x_i = x[i], s = diagonal[i] * x_i, t = 0;
        i64 q = ptr[i], end = ptr[i + 1];
        for (; q + 1 < end; q += 2) {
            i64 j = idx[q], k = idx[q + 1];
            s += val[q] * x[j];
            t += val[q + 1] * x[k];
            y[j] += val[q] * x_i;
            y[k] += val[q + 1] * x_i;
        }
        if (q < end) {
            i64 j = idx[q];
            s += val[q] * x[j];
            y[j] += val[q] * x_i;
        }
        y[i] += s + t;
    }
    return 0;
}

// The same in tiles of 2048 rows and 65536 columns, `across` of them beside each other, with a list
// for each, column by column; the last list is the diagonal.
i64 symmetric_tiles(i64 n, const i32 *restrict ptr, const i32 *restrict idx,
                    const double *restrict val, const double *restrict x, double *restrict y) {
    i64 across = (n + 65535) / 65536, tiles = (n + 2047) / 2048 * across;
    memset(y, 0, n * sizeof(double));
    for (i64 t = 0; t < tiles; t++) {
        i64 row = t / across * 2048, column = t % across * 65536;
        for (i64 q = ptr[t]; q < ptr[t + 1]; q++) {
            uint32_t word = idx[q];
            i64 i = row + word % 2048, j = column + word / 2048;
            y[i] += val[q] * x[j];
            y[j] += val[q] * x[i];
        }
    }
    for (i64 q = ptr[tiles]; q < ptr[tiles + 1]; q++) y[idx[q]] += val[q] * x[idx[q]];
    return 0;
}

REASSOCIATE i64 dense(i64 n, i64 m, const double *restrict val, const double *restrict x,
                      double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        double s = 0;
        for (i64 j = 0; j < m; j++) s += val[i * m + j] * x[j];
        y[i] = s;
    }
    return 0;
}

REASSOCIATE i64 runs(i64 n, const i32 *restrict ptr, const i32 *restrict right,
                     const double *restrict val, const double *restrict x, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        double s = 0;
        i64 j = 0;
        for (i64 q = ptr[i]; q < ptr[i + 1]; q++) {
            double sum = 0;
            for (; j < right[q]; j++) sum += x[j];
            s += val[q] * sum;
        }
        y[i] = s;
    }
    return 0;
}

double run_sum(i64 count, const i32 *restrict right, const double *restrict val) {
    double s = 0;
    i64 left = 0;
    for (i64 q = 0; q < count; left = right[q++]) s += (double)(right[q] - left) * val[q];
    return s;
}
