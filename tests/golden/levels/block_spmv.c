i64 spmv(i64 *restrict args) {
  i64 n_i = args[4];
  double *restrict y_val = (void *)args[1];
  const i32 *restrict A_ptr = (void *)args[6];
  const i32 *restrict A_idx = (void *)args[9];
  const i32 *restrict A_ofs = (void *)args[12];
  const double *restrict A_val = (void *)args[15];
  const double *restrict x_val = (void *)args[19];
  if (grow(y_val, args + 1, n_i)) return OUT_OF_MEMORY;
  for (i64 i = 0; i < n_i; i++) {
    double y_i = 0;
    for (i64 A_t = A_ptr[i]; A_t < A_ptr[i + 1]; A_t++) {  // j in A[i, j]
      i64 j_next = A_idx[A_t], A_shift = (i64)A_ofs[A_t + 1] - A_idx[A_t];
      i64 j_stop = A_ofs[A_t] - A_shift;
      double y_i_part = -0.0;
      #pragma omp simd reduction(+:y_i_part)
      for (i64 j = j_stop; j < j_next; j++)
        y_i_part += A_val[j + A_shift] * x_val[j];
      y_i += y_i_part;
    }
    y_val[i] = y_i;
  }
  args[3] = n_i;  // length of y_val
  return 0;
}
