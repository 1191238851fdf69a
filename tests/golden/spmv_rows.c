i64 spmv_rows(i64 *restrict args) {
  i64 n_i = args[4];
  double *restrict y_val = (void *)args[1];
  const i32 *restrict A_ptr = (void *)args[6];
  const i32 *restrict A_idx = (void *)args[9];
  const double *restrict A_val = (void *)args[12];
  const double *restrict x_val = (void *)args[16];
  if (grow(y_val, args + 1, n_i)) return OUT_OF_MEMORY;
  for (i64 i = 0; i < n_i; i++) {
    double y_i = 0;
    for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
      i64 j = A_idx[A_q];
      y_i += A_val[A_q] * x_val[j];
    }
    y_val[i] = y_i;
  }
  args[3] = n_i;  // length of y_val
  return 0;
}
