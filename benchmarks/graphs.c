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

// The same with a byte for each vertex that is found, and for each in the frontier. Those that wait are
// listed eight at a time: a table has the numbers of the bits that are set in a byte.
typedef struct {
    i64 n;
    const i32 *ptr, *idx, *ptr_in, *idx_in;
    i32 *parent, *now, *next, *list, *toward;
    unsigned char *found, *ahead;
} flags;

static unsigned char numbers[256][8];

static void fill_numbers(void) {
    for (int byte = 0; byte < 256; byte++)
        for (int bit = 0, count = 0; bit < 8; bit++)
            if (byte >> bit & 1) numbers[byte][count++] = bit;
}

// The vertices whose flags are `set`, in order, in a list with room for all.
static i64 list_flags(i64 n, const unsigned char *restrict flag, u64 set, i32 *restrict list) {
    i64 count = 0, k = 0;
    for (; k + 8 <= n; k += 8) {
        u64 eight;
        memcpy(&eight, flag + k, 8);
        u64 byte = (eight ^ (set ? 0 : 0x0101010101010101)) * 0x0102040810204080 >> 56;
        for (int r = 0; r < 8; r++) list[count + r] = k + numbers[byte][r];
        count += __builtin_popcountll(byte);
    }
    for (; k < n; k++) {
        list[count] = k;
        count += flag[k] == set;
    }
    return count;
}

static void pull_flags(const flags *g) {
    i32 *restrict parent = g->parent;
    i64 count = list_flags(g->n, g->found, 0, g->list);
    for (i64 q = 0; q < count; q++) {
        i64 k = g->list[q];
        for (i64 e = g->ptr_in[k]; e < g->ptr_in[k + 1]; e++)
            if (g->ahead[g->idx_in[e]]) { parent[k] = g->idx_in[e]; break; }
    }
}

static void push_all_flags(const flags *g) {
    i32 *restrict toward = g->toward, *restrict parent = g->parent;
    i64 count = list_flags(g->n, g->ahead, 1, g->list);
    for (i64 k = 0; k < g->n; k++) toward[k] = -1;
    for (i64 q = 0; q < count; q++) {
        i32 j = g->list[q];
        for (i64 e = g->ptr[j]; e < g->ptr[j + 1]; e++) toward[g->idx[e]] = j;
    }
    for (i64 k = 0; k < g->n; k++) {
        i32 j = g->found[k] ? -1 : toward[k];
        parent[k] = parent[k] > j ? parent[k] : j;
    }
}

// What is new is in the frontier; returns how many edges leave it.
static i64 look_at_all(const flags *g) {
    unsigned char *restrict found = g->found, *restrict ahead = g->ahead;
    const i32 *restrict parent = g->parent, *restrict ptr = g->ptr;
    i64 edges = 0;
    for (i64 k = 0; k < g->n;) {
        i64 stop = k + 1024 < g->n ? k + 1024 : g->n;
        i32 some = 0;
        for (; k < stop; k++) {
            unsigned char is = parent[k] != -1, fresh = found[k] ^ is;
            ahead[k] = fresh;
            found[k] = is;
            some += (ptr[k + 1] - ptr[k]) & -(i32)fresh;
        }
        edges += some;
    }
    return edges;
}

static i64 push_flags(const flags *g, i64 count, i64 *edges) {
    i64 found = 0;
    for (i64 q = 0; q < count; q++) {
        i32 j = g->now[q];
        for (i64 e = g->ptr[j]; e < g->ptr[j + 1]; e++) {
            i32 k = g->idx[e];
            if (g->found[k]) continue;
            g->found[k] = 1;
            g->parent[k] = j;
            g->next[found++] = k;
        }
    }
    for (i64 q = 0; q < found; q++) *edges += g->ptr[g->next[q] + 1] - g->ptr[g->next[q]];
    return found;
}

i64 search_by_flags(i64 n, i64 source, i64 never_pull, const i32 *ptr, const i32 *idx,
                    const i32 *ptr_in, const i32 *idx_in, i32 *parent) {
    i64 size = n * sizeof(i32);
    flags g = {n, ptr, idx, ptr_in, idx_in, parent, malloc(size), malloc(size), malloc(size),
               malloc(size), calloc(n, 1), malloc(n)};
    if (!g.now || !g.next || !g.list || !g.toward || !g.found || !g.ahead) return 1;
    if (!numbers[1 << 7][0]) fill_numbers();
    for (i64 k = 0; k < n; k++) parent[k] = -1;
    parent[source] = g.now[0] = source;
    g.found[source] = 1;
    i64 edges = ptr[source + 1] - ptr[source], left = ptr[n] - edges, count = 1;
    for (int wide = 0, pull = 0; edges;) {
        int was_wide = wide;
        if (pull) pull_flags(&g);
        else if (wide) push_all_flags(&g);
        edges = wide ? look_at_all(&g) : 0;
        if (!wide) count = push_flags(&g, count, &edges);
        left -= edges;
        i64 push = edges + 2 * n < 4 * edges ? edges + 2 * n : 4 * edges;
        pull = !never_pull && edges * push > 2 * n * (edges + left);
        wide = pull || 3 * edges > 2 * n;
        if (wide && !was_wide) {
            memset(g.ahead, 0, n);
            for (i64 q = 0; q < count; q++) g.ahead[g.next[q]] = 1;
        }
        if (was_wide && !wide) count = list_flags(n, g.ahead, 1, g.next);
        i32 *t = g.now; g.now = g.next; g.next = t;
    }
    free(g.now); free(g.next); free(g.list); free(g.toward); free(g.found); free(g.ahead);
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
