// Breadth-first search that changes its direction, and shortest paths by relaxing what changed.
#include "result.h"

// Parents of all vertices, -1 where there is none. Row j of (ptr, idx) holds the neighbours of j, row k
// of (ptr_in, idx_in) those from which k is reached.
i64 search(i64 n, i64 source, i64 never_pull, const i32 *restrict ptr,
           const i32 *restrict idx, const i32 *restrict ptr_in, const i32 *restrict idx_in,
           i32 *restrict parent) {
    i32 *now = malloc(n * sizeof(i32)), *next = malloc(n * sizeof(i32));
    char *restrict ahead = calloc(n, 1);
    if (!now || !next || !ahead) return 1;
    for (i64 k = 0; k < n; k++) parent[k] = -1;
    parent[source] = source;
    now[0] = source;
    for (i64 count = 1, left = ptr[n]; count;) {
        i64 found = 0, edges = 0;
        for (i64 q = 0; q < count; q++) edges += ptr[now[q] + 1] - ptr[now[q]];
        left -= edges;
        if (!never_pull && edges * edges > n * (left + n / 8)) {
            for (i64 q = 0; q < count; q++) ahead[now[q]] = 1;
            for (i64 k = 0; k < n; k++) {
                if (parent[k] >= 0) continue;
                for (i64 q = ptr_in[k]; q < ptr_in[k + 1]; q++)
                    if (ahead[idx_in[q]]) { next[found++] = k; parent[k] = idx_in[q]; break; }
            }
            for (i64 q = 0; q < count; q++) ahead[now[q]] = 0;
        } else {
            for (i64 q = 0; q < count; q++) {
                i64 j = now[q];
                for (i64 e = ptr[j]; e < ptr[j + 1]; e++) {
                    i64 k = idx[e];
                    if (parent[k] < 0) { parent[k] = j; next[found++] = k; }
                }
            }
        }
        i32 *t = now; now = next; next = t;
        count = found;
    }
    free(now);
    free(next);
    free(ahead);
    return 0;
}

// A round relaxes the edges that leave the vertices whose distance changed in the round before.
i64 distances(i64 n, i64 source, const i32 *restrict ptr, const i32 *restrict idx,
              const double *restrict val, double *restrict distance) {
    i32 *now = malloc(n * sizeof(i32)), *next = malloc(n * sizeof(i32));
    char *restrict changed = calloc(n, 1);
    if (!now || !next || !changed) return 1;
    for (i64 k = 0; k < n; k++) distance[k] = INFINITY;
    distance[source] = 0;
    now[0] = source;
    for (i64 count = 1; count;) {
        i64 found = 0;
        for (i64 q = 0; q < count; q++) changed[now[q]] = 0;
        for (i64 q = 0; q < count; q++) {
            i64 j = now[q];
            double d = distance[j];
            for (i64 e = ptr[j]; e < ptr[j + 1]; e++) {
                i64 k = idx[e];
                if (d + val[e] < distance[k]) {
                    distance[k] = d + val[e];
                    if (!changed[k]) { changed[k] = 1; next[found++] = k; }
                }
            }
        }
        i32 *t = now; now = next; next = t;
        count = found;
    }
    free(now);
    free(next);
    free(changed);
    return 0;
}

// As above, with the distances of the round before only: what does not depend on the order.
i64 distances_by_rounds(i64 n, i64 source, const i32 *restrict ptr, const i32 *restrict idx,
                        const double *restrict val, double *restrict distance) {
    i32 *now = malloc(n * sizeof(i32)), *next = malloc(n * sizeof(i32));
    char *restrict changed = calloc(n, 1);
    double *restrict before = malloc(n * sizeof(double));
    if (!now || !next || !changed || !before) return 1;
    for (i64 k = 0; k < n; k++) before[k] = distance[k] = INFINITY;
    before[source] = distance[source] = 0;
    now[0] = source;
    for (i64 count = 1; count;) {
        i64 found = 0;
        for (i64 q = 0; q < count; q++) {
            i64 j = now[q];
            double d = before[j];
            for (i64 e = ptr[j]; e < ptr[j + 1]; e++) {
                i64 k = idx[e];
                if (d + val[e] < distance[k]) {
                    distance[k] = d + val[e];
                    if (!changed[k]) { changed[k] = 1; next[found++] = k; }
                }
            }
        }
        for (i64 q = 0; q < found; q++) {
            before[next[q]] = distance[next[q]];
            changed[next[q]] = 0;
        }
        i32 *t = now; now = next; next = t;
        count = found;
    }
    free(now);
    free(next);
    free(changed);
    free(before);
    return 0;
}
