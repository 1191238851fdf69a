// CSR from coordinates in any order, duplicates summed: scatter by row, then sort each row.
#include "result.h"

typedef struct { i32 j; double x; } Entry;

// Stable, so that duplicates are summed in the order in which they were given.
static void sort_entries(Entry *a, i64 n, Entry *spare) {
    if (n > 32) {
        i64 h = n / 2, p = 0, q = h, t = 0;
        sort_entries(a, h, spare);
        sort_entries(a + h, n - h, spare);
        if (a[h - 1].j <= a[h].j) return;
        memcpy(spare, a, h * sizeof(Entry));
        while (p < h && q < n) a[t++] = a[q].j < spare[p].j ? a[q++] : spare[p++];
        memcpy(a + t, spare + p, (h - p) * sizeof(Entry));
        return;
    }
    for (i64 k = 1; k < n; k++) {
        Entry x = a[k];
        i64 m = k;
        while (m > 0 && a[m - 1].j > x.j) { a[m] = a[m - 1]; m--; }
        a[m] = x;
    }
}

i64 coo_to_csr(i64 n, i64 count, const i32 *restrict rows, const i32 *restrict columns,
               const double *restrict values, Arrays *result) {
    i32 *restrict ptr = new_ints(result, 0, n + 1), *restrict idx = new_ints(result, 1, count);
    double *restrict val = new_values(result, count);
    Entry *restrict entries = malloc((count + 1) * sizeof(Entry));
    if (!ptr || !idx || !val || !entries) return 1;
    memset(ptr, 0, (n + 1) * sizeof(i32));
    for (i64 k = 0; k < count; k++) ptr[rows[k] + 1]++;
    i64 longest = 0;
    for (i64 i = 0; i < n; i++) {
        if (ptr[i + 1] > longest) longest = ptr[i + 1];
        ptr[i + 1] += ptr[i];
    }
    for (i64 k = 0; k < count; k++) entries[ptr[rows[k]]++] = (Entry){columns[k], values[k]};
    Entry *spare = malloc((longest / 2 + 1) * sizeof(Entry));
    if (!spare) return 1;
    i64 c = 0, begin = 0;
    for (i64 i = 0; i < n; i++) {
        i64 end = ptr[i];
        ptr[i] = c;
        sort_entries(entries + begin, end - begin, spare);
        for (i64 q = begin; q < end;) {
            i32 j = entries[q].j;
            double x = entries[q++].x;
            while (q < end && entries[q].j == j) x += entries[q++].x;
            idx[c] = j;
            val[c++] = x;
        }
        begin = end;
    }
    ptr[n] = c;
    free(spare);
    free(entries);
    trim_ints(result, 1, c);
    trim_values(result, c);
    return 0;
}

// Coordinates that are sorted already, each once: only the row starts are missing.
i64 sorted_coo_to_csr(i64 n, i64 count, const i32 *restrict rows, const i32 *restrict columns,
                      const double *restrict values, Arrays *result) {
    i32 *restrict ptr = new_ints(result, 0, n + 1), *restrict idx = new_ints(result, 1, count);
    double *restrict val = new_values(result, count);
    if (!ptr || !idx || !val) return 1;
    i64 k = 0;
    for (i64 i = 0; i < n; i++) {
        ptr[i] = k;
        while (k < count && rows[k] == i) k++;
    }
    ptr[n] = count;
    memcpy(idx, columns, count * sizeof(i32));
    memcpy(val, values, count * sizeof(double));
    return 0;
}
