// A Matrix Market file of real entries to CSR; and the numeric part of assembly, for a plan that
// lists the values of each place of the result.
#include "result.h"
#include <stdio.h>

static const char *blank(const char *p) {
    while (*p == ' ' || *p == '\t' || *p == '\r') p++;
    return p;
}

static const char *read_index(const char *p, i32 *index) {
    i32 n = 0;
    for (p = blank(p); *p >= '0' && *p <= '9'; p++) n = n * 10 + (*p - '0');
    *index = n - 1;
    return p;
}

// Exact where the digits fit 53 bits and the power of ten is a double; else the C library reads it.
static const char *read_real(const char *p, double *value) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *start = p = blank(p);
    int negative = *p == '-', digits = 0, power = 0;
    uint64_t w = 0;
    if (*p == '-' || *p == '+') p++;
    for (; *p >= '0' && *p <= '9'; p++, digits++) w = w * 10 + (*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++, digits++, power--) w = w * 10 + (*p - '0');
    if (digits > 19 || w > 1ull << 53 || power < -22 || *p == 'e' || *p == 'E') {
        char *end;
        *value = strtod(start, &end);
        return end;
    }
    double x = power ? w / tens[-power] : w;
    *value = negative ? -x : x;
    return p;
}

static char *whole_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) return NULL;
    i64 size = ftell(file);
    char *text = malloc(size + 1);
    rewind(file);
    if (!text || (i64)fread(text, 1, size, file) != size) return NULL;
    text[size] = 0;
    fclose(file);
    return text;
}

// The entries come by rows or by columns: scattered to their rows in order, they are sorted.
i64 read_mtx(const char *path, Arrays *result) {
    char *text = whole_file(path);
    if (!text) return 1;
    const char *p = text;
    while (*p == '%') p = strchr(p, '\n') + 1;
    i64 n, columns, count;
    if (sscanf(p, "%ld %ld %ld", &n, &columns, &count) != 3) return 1;
    p = strchr(p, '\n') + 1;
    i32 *restrict i = malloc((count + 1) * sizeof(i32)), *restrict j = malloc((count + 1) * sizeof(i32));
    double *restrict x = malloc((count + 1) * sizeof(double));
    i32 *restrict ptr = new_ints(result, 0, n + 1), *restrict idx = new_ints(result, 1, count);
    double *restrict val = new_values(result, count);
    if (!i || !j || !x || !ptr || !idx || !val) return 1;
    memset(ptr, 0, (n + 1) * sizeof(i32));
    for (i64 q = 0; q < count; q++) {
        p = read_real(read_index(read_index(p, i + q), j + q), x + q);
        while (*p && *p++ != '\n');
        ptr[i[q] + 1]++;
    }
    for (i64 k = 0; k < n; k++) ptr[k + 1] += ptr[k];
    for (i64 q = 0; q < count; q++) {
        i64 at = ptr[i[q]]++;
        idx[at] = j[q];
        val[at] = x[q];
    }
    memmove(ptr + 1, ptr, n * sizeof(i32));
    ptr[0] = 0;
    free(i);
    free(j);
    free(x);
    free(text);
    return 0;
}

void assemble(i64 n, const i32 *restrict ptr, const i32 *restrict order,
              const double *restrict values, double *restrict result) {
    for (i64 u = 0; u < n; u++) {
        double total = values[order[ptr[u]]];
        for (i64 q = ptr[u] + 1; q < ptr[u + 1]; q++) total += values[order[q]];
        result[u] = total;
    }
}
