i64 spmv(i64 *restrict args) {
  i64 n_i = args[4], n_j = args[5];
  double *restrict y_val = (void *)args[1];
  const i32 *restrict A_idx = (void *)args[6];
  const double *restrict x_val = (void *)args[10];
  if (grow(y_val, args + 1, n_i)) return OUT_OF_MEMORY;
  for (i64 i = 0; i < n_i; i++) {
    double y_i = 0;
    i64 A_i = A_idx[i];
    if (A_i < n_j) y_i += x_val[A_i];
    y_val[i] = y_i;
  }
  args[3] = n_i;  // length of y_val
  return 0;
}
