i64 spmv_columns(i64 *restrict args) {
  i64 n_i = args[4], n_j = args[5];
  double *restrict y_val = (void *)args[1];
  const i32 *restrict A_ptr = (void *)args[6];
  const i32 *restrict A_idx = (void *)args[9];
  const double *restrict A_val = (void *)args[12];
  const double *restrict x_val = (void *)args[16];
  if (grow(y_val, args + 1, n_i)) return OUT_OF_MEMORY;
  for (i64 k = 0; k < n_i; k++) y_val[k] = 0;
  for (i64 j = 0; j < n_j; j++) {
    double x_j = x_val[j];
    for (i64 A_q = A_ptr[j]; A_q < A_ptr[j + 1]; A_q++) {  // i in A[i, j]
      i64 i = A_idx[A_q];
      y_val[i] += A_val[A_q] * x_j;
    }
  }
  args[3] = n_i;  // length of y_val
  return 0;
}
