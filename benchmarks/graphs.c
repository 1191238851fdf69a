// Breadth-first search that changes its direction, and shortest paths by relaxing what changed.
#include "result.h"

typedef uint64_t u64;

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

// The same with a bit for each vertex that waits, and for each in the frontier: 64 are looked at at once,
// and a push along many edges tests none of them.
typedef struct {
    i64 n, words;
    const i32 *ptr, *idx, *ptr_in, *idx_in;
    i32 *parent, *now, *next, *toward;
    u64 *waits, *ahead;
} bits;

static i64 pull_bits(const bits *g, i64 count) {
    i64 found = 0;
    u64 *restrict waits = g->waits, *restrict ahead = g->ahead;
    for (i64 q = 0; q < count; q++) ahead[g->now[q] >> 6] |= 1ull << (g->now[q] & 63);
    for (i64 w = 0; w < g->words; w++) {
        u64 left = waits[w];
        for (u64 rest = left; rest; rest &= rest - 1) {
            i64 k = 64 * w + __builtin_ctzll(rest);
            for (i64 q = g->ptr_in[k]; q < g->ptr_in[k + 1]; q++) {
                i32 j = g->idx_in[q];
                if (!(ahead[j >> 6] >> (j & 63) & 1)) continue;
                g->next[found++] = k;
                g->parent[k] = j;
                left ^= rest & -rest;
                break;
            }
        }
        waits[w] = left;
    }
    memset(ahead, 0, g->words * sizeof(u64));
    return found;
}

static i64 push_all_bits(const bits *g, i64 count) {
    i64 found = 0;
    i32 *restrict toward = g->toward;
    for (i64 k = 0; k < 64 * g->words; k++) toward[k] = -1;
    for (i64 q = 0; q < count; q++) {
        i32 j = g->now[q];
        for (i64 e = g->ptr[j]; e < g->ptr[j + 1]; e++) toward[g->idx[e]] = j;
    }
    for (i64 w = 0; w < g->words; w++) {
        u64 new = 0;
        for (i64 b = 0; b < 64; b++) new |= (u64)(toward[64 * w + b] >= 0) << b;
        new &= g->waits[w];
        g->waits[w] ^= new;
        for (; new; new &= new - 1) {
            i64 k = 64 * w + __builtin_ctzll(new);
            g->parent[k] = toward[k];
            g->next[found++] = k;
        }
    }
    return found;
}

static i64 push_bits(const bits *g, i64 count) {
    i64 found = 0;
    u64 *restrict waits = g->waits;
    for (i64 q = 0; q < count; q++) {
        i32 j = g->now[q];
        for (i64 e = g->ptr[j]; e < g->ptr[j + 1]; e++) {
            i32 k = g->idx[e];
            if (!(waits[k >> 6] >> (k & 63) & 1)) continue;
            waits[k >> 6] ^= 1ull << (k & 63);
            g->parent[k] = j;
            g->next[found++] = k;
        }
    }
    return found;
}

i64 search_by_bits(i64 n, i64 source, i64 never_pull, const i32 *ptr, const i32 *idx,
                   const i32 *ptr_in, const i32 *idx_in, i32 *parent) {
    i64 words = (n + 63) / 64, size = 64 * words * sizeof(i32), waiting = n - 1;
    bits g = {n, words, ptr, idx, ptr_in, idx_in, parent, malloc(size), malloc(size),
              malloc(size), malloc(words * sizeof(u64)), calloc(words, sizeof(u64))};
    if (!g.now || !g.next || !g.toward || !g.waits || !g.ahead) return 1;
    for (i64 k = 0; k < n; k++) parent[k] = -1;
    for (i64 w = 0; w < words; w++) g.waits[w] = ~0ull;
    if (n & 63) g.waits[words - 1] = (1ull << (n & 63)) - 1;
    parent[source] = source;
    g.waits[source >> 6] ^= 1ull << (source & 63);
    g.now[0] = source;
    for (i64 count = 1, left = ptr[n]; count;) {
        i64 edges = 0;
        for (i64 q = 0; q < count; q++) edges += ptr[g.now[q] + 1] - ptr[g.now[q]];
        left -= edges;
        i64 all = edges + 2 * n, push = all < 4 * edges ? all : 4 * edges;
        if (!never_pull && edges * push > 4 * (waiting * edges + n * left)) count = pull_bits(&g, count);
        else count = all < 4 * edges ? push_all_bits(&g, count) : push_bits(&g, count);
        waiting -= count;
        i32 *t = g.now; g.now = g.next; g.next = t;
    }
    free(g.now); free(g.next); free(g.toward); free(g.waits); free(g.ahead);
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
