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

// What three rows share is intersected with what three others share, two rows above: five rows in all.
// What is left loses two pixels at each end that is not at the border.
static i64 three_rows(i64 n, const i32 *restrict ptr, const i32 *restrict left,
                      const i32 *restrict right, i32 *restrict to_ptr, i32 *restrict to_left,
                      i32 *restrict to_right) {
    i64 count = to_ptr[0] = 0;
    for (i64 y = 0; y < n; y++) {
        i64 next = clamp(y + 1, n), last = clamp(y + 2, n), p = ptr[y], q = ptr[next], r = ptr[last];
        i64 p_end = ptr[y + 1], q_end = ptr[next + 1], r_end = ptr[last + 1];
        while (p < p_end && q < q_end && r < r_end) {
            i32 a = left[p], b = left[q], c = left[r], d = right[p], e = right[q], f = right[r];
            i32 from = a > b ? a : b, to = d < e ? d : e;
            from = from > c ? from : c;
            to = to < f ? to : f;
            p += d == to;
            q += e == to;
            r += f == to;
            to_left[count] = from;
            to_right[count] = to;
            count += from < to;
        }
        to_ptr[y + 1] = count;
    }
    return count;
}

i64 erode_runs(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict left,
               const i32 *restrict right, Arrays *result) {
    // Each run of a row ends at one of the at most three that end there.
    i64 room = 3 * (i64)ptr[n] + 1, count = 0;
    i32 *p = malloc((n + 1 + 2 * room) * sizeof(i32)), *l = p + n + 1, *r = l + room;
    if (!p) return 1;
    room = 2 * three_rows(n, ptr, left, right, p, l, r) + 1;
    i32 *to_ptr = new_ints(result, 0, n + 1), *to_left = new_ints(result, 1, room);
    i32 *to_right = new_ints(result, 2, room);
    if (!to_ptr || !to_left || !to_right) return 1;
    to_ptr[0] = 0;
    for (i64 y = 0; y < n; y++) {
        i64 above = clamp(y - 2, n), a = p[above], b = p[y], a_end = p[above + 1], b_end = p[y + 1];
        while (a < a_end && b < b_end) {
            i32 from = l[a] > l[b] ? l[a] : l[b], c = r[a], d = r[b], to = c < d ? c : d;
            a += c == to;
            b += d == to;
            from += from > 0 ? 2 : 0;
            to -= to < m ? 2 : 0;
            to_left[count] = from;
            to_right[count] = to;
            count += from < to;
        }
        to_ptr[y + 1] = count;
    }
    trim_ints(result, 1, count);
    trim_ints(result, 2, count);
    free(p);
    return 0;
}

// What is left of each row when its runs lose two pixels at each end that is not at the border.
static i64 shortened(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict left,
                     const i32 *restrict right, i32 *restrict to_ptr, i32 *restrict to_left,
                     i32 *restrict to_right) {
    i64 count = to_ptr[0] = 0;
    for (i64 y = 0; y < n; y++) {
        for (i64 q = ptr[y]; q < ptr[y + 1]; q++) {
            i32 from = left[q] > 0 ? left[q] + 2 : 0, to = right[q] < m ? right[q] - 2 : m;
            to_left[count] = from;
            to_right[count] = to;
            count += from < to;
        }
        to_ptr[y + 1] = count;
    }
    return count;
}

// Each row first, then what five of them share. Where the five runs that meet end before any other
// begins, all are left behind at once, and what comes next waits for none of their ends.
i64 erode_runs_across(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict left,
                      const i32 *restrict right, Arrays *result) {
    i64 room = (i64)ptr[n] + 1, count = 0;
    i32 *p = malloc((n + 1 + 2 * room) * sizeof(i32)), *l = p + n + 1, *r = l + room;
    if (!p) return 1;
    room = 5 * shortened(n, m, ptr, left, right, p, l, r) + 1;
    i32 *to_ptr = new_ints(result, 0, n + 1), *to_left = new_ints(result, 1, room);
    i32 *to_right = new_ints(result, 2, room);
    if (!to_ptr || !to_left || !to_right) return 1;
    to_ptr[0] = 0;
    for (i64 y = 0; y < n; y++) {
        i64 u = clamp(y - 2, n), v = clamp(y - 1, n), w = clamp(y + 1, n), x = clamp(y + 2, n);
        i64 a = p[u], b = p[v], c = p[y], d = p[w], e = p[x];
        i64 a_end = p[u + 1], b_end = p[v + 1], c_end = p[y + 1], d_end = p[w + 1], e_end = p[x + 1];
        while (a < a_end && b < b_end && c < c_end && d < d_end && e < e_end) {
            i32 f = r[a], g = r[b], h = r[c], i = r[d], j = r[e];
            i32 from = most(most(most(l[a], l[b]), most(l[c], l[d])), l[e]);
            i32 to = least(least(least(f, g), least(h, i)), j);
            i32 end = from;
            if (from < to) {
                to_left[count] = from;
                to_right[count++] = to;
                i32 far = most(most(most(f, g), most(h, i)), j), near = m;
                near = least(near, a + 1 < a_end ? l[a + 1] : m);
                near = least(near, b + 1 < b_end ? l[b + 1] : m);
                near = least(near, c + 1 < c_end ? l[c + 1] : m);
                near = least(near, d + 1 < d_end ? l[d + 1] : m);
                near = least(near, e + 1 < e_end ? l[e + 1] : m);
                if (far <= near) {
                    a++, b++, c++, d++, e++;
                    continue;
                }
                end = to;
            }
            a += f <= end;
            b += g <= end;
            c += h <= end;
            d += i <= end;
            e += j <= end;
        }
        to_ptr[y + 1] = count;
    }
    trim_ints(result, 1, count);
    trim_ints(result, 2, count);
    free(p);
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
