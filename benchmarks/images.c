// Two erosions of a binary image at once, in three representations, and a masked histogram.
#include "result.h"

typedef uint8_t u8;
typedef uint64_t u64;

static inline i64 clamp(i64 x, i64 n) { return x < 0 ? 0 : x < n ? x : n - 1; }

// Rows first, then columns. Beyond the border all is on: there the border itself may be taken.
i64 erode_bytes(i64 n, i64 m, const u8 *restrict img, u8 *restrict out) {
    u8 *restrict row = malloc(m);
    if (!row) return 1;
    for (i64 y = 0; y < n; y++) {
        const u8 *a = img + clamp(y - 2, n) * m, *b = img + clamp(y - 1, n) * m, *c = img + y * m;
        const u8 *d = img + clamp(y + 1, n) * m, *e = img + clamp(y + 2, n) * m;
        u8 *restrict to = out + y * m;
        for (i64 x = 0; x < m; x++) row[x] = a[x] & b[x] & c[x] & d[x] & e[x];
        for (i64 x = 2; x < m - 2; x++)
            to[x] = row[x - 2] & row[x - 1] & row[x] & row[x + 1] & row[x + 2];
        for (i64 x = 0; x < m; x += x == 1 && m > 4 ? m - 3 : 1) {
            u8 all = row[x];
            for (i64 k = -2; k <= 2; k++) all &= row[clamp(x + k, m)];
            to[x] = all;
        }
    }
    free(row);
    return 0;
}

// 64 pixels in a word, the leftmost in the lowest bit.
i64 erode_bits(i64 n, i64 m, const u64 *restrict img, u64 *restrict out) {
    u64 *restrict row = malloc((m + 2) * sizeof(u64));
    if (!row) return 1;
    row[0] = row[m + 1] = ~(u64)0;
    for (i64 y = 0; y < n; y++) {
        const u64 *a = img + clamp(y - 2, n) * m, *b = img + clamp(y - 1, n) * m, *c = img + y * m;
        const u64 *d = img + clamp(y + 1, n) * m, *e = img + clamp(y + 2, n) * m;
        u64 *restrict to = out + y * m;
        for (i64 x = 0; x < m; x++) row[x + 1] = a[x] & b[x] & c[x] & d[x] & e[x];
        for (i64 x = 0; x < m; x++) {
            u64 l = row[x], w = row[x + 1], r = row[x + 2];
            to[x] = w & (w << 1 | l >> 63) & (w << 2 | l >> 62) & (w >> 1 | r << 63)
                  & (w >> 2 | r << 62);
        }
    }
    free(row);
    return 0;
}

// One erosion of runs: those of three rows are intersected, and what is left loses a pixel at each end
// that is not at the border.
static i64 erode_once(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict left,
                      const i32 *restrict right, i32 *restrict to_ptr, i32 *restrict to_left,
                      i32 *restrict to_right) {
    i64 count = 0;
    to_ptr[0] = 0;
    for (i64 y = 0; y < n; y++) {
        i64 above = clamp(y - 1, n), below = clamp(y + 1, n);
        i64 p = ptr[above], q = ptr[y], r = ptr[below];
        i64 p_end = ptr[above + 1], q_end = ptr[y + 1], r_end = ptr[below + 1];
        while (p < p_end && q < q_end && r < r_end) {
            i64 a = left[p], b = left[q], c = left[r], d = right[p], e = right[q], f = right[r];
            i64 from = a > b ? a : b, to = d < e ? d : e;
            from = from > c ? from : c;
            to = to < f ? to : f;
            p += d == to;
            q += e == to;
            r += f == to;
            from += from > 0;
            i64 end = to - (to < m);
            if (from < end) { to_left[count] = from; to_right[count++] = end; }
        }
        to_ptr[y + 1] = count;
    }
    return count;
}

i64 erode_runs(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict left,
               const i32 *restrict right, Arrays *result) {
    // Each run of a row ends at one of the at most three that end there.
    i64 room = 3 * (i64)ptr[n] + 1;
    i32 *p = malloc((n + 1) * sizeof(i32)), *l = malloc(room * sizeof(i32));
    i32 *r = malloc(room * sizeof(i32));
    if (!p || !l || !r) return 1;
    i64 count = erode_once(n, m, ptr, left, right, p, l, r);
    i32 *ptr_2 = new_ints(result, 0, n + 1), *left_2 = new_ints(result, 1, 3 * count + 1);
    i32 *right_2 = new_ints(result, 2, 3 * count + 1);
    if (!ptr_2 || !left_2 || !right_2) return 1;
    count = erode_once(n, m, p, l, r, ptr_2, left_2, right_2);
    trim_ints(result, 1, count);
    trim_ints(result, 2, count);
    free(p);
    free(l);
    free(r);
    return 0;
}

// Sixteen bins, of the pixels that the runs of a mask cover. Four tables, so that equal neighbours do not
// wait for each other.
i64 histogram(i64 n, i64 m, const u8 *restrict img, const i32 *restrict ptr,
              const i32 *restrict left, const i32 *restrict right, i64 *restrict bins) {
    i64 table[4][16] = {{0}};
    for (i64 y = 0; y < n; y++)
        for (i64 q = ptr[y]; q < ptr[y + 1]; q++) {
            const u8 *row = img + y * m;
            i64 x = left[q], end = right[q];
            for (; x + 3 < end; x += 4)
                for (i64 k = 0; k < 4; k++) table[k][row[x + k] >> 4]++;
            for (; x < end; x++) table[0][row[x] >> 4]++;
        }
    for (i64 k = 0; k < 16; k++) bins[k] = table[0][k] + table[1][k] + table[2][k] + table[3][k];
    return 0;
}
