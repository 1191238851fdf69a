i64 spmv(i64 *restrict args) {
  i64 n_i = args[4];
  double *restrict y_val = (void *)args[1];
  const i32 *restrict A_ptr = (void *)args[6];
  const i32 *restrict A_idx = (void *)args[9];
  const double *restrict A_val = (void *)args[12];
  const double *restrict x_val = (void *)args[16];
  double y_sum = 0;
  if (grow(y_val, args + 1, n_i)) return OUT_OF_MEMORY;
  for (i64 k = 0; k < n_i; k++) y_val[k] = 0;
  for (i64 i = 0; i < n_i; i++) {
    y_sum = 0;
    double x_i = x_val[i];
    if ((i64)A_ptr[i] < A_ptr[i + 1] && A_idx[(i64)A_ptr[i + 1] - 1] == (i32)i) {
      double y_sum_odd = -0.0;
      i64 A_q = A_ptr[i], A_q_end = (i64)A_ptr[i + 1] - 1;
      while (A_q + 1 < A_q_end) {  // j in A[i, j]
        i64 j = A_idx[A_q];
        y_sum += A_val[A_q] * x_val[j];
        y_val[j] += A_val[A_q] * x_i;
        i64 j_2 = A_idx[A_q + 1];
        y_sum_odd += A_val[A_q + 1] * x_val[j_2];
        y_val[j_2] += A_val[A_q + 1] * x_i;
        A_q += 2;
      }
      if (A_q < A_q_end) {
        i64 j = A_idx[A_q];
        y_sum += A_val[A_q] * x_val[j];
        y_val[j] += A_val[A_q] * x_i;
      }
      y_sum += y_sum_odd;
      y_sum += A_val[(i64)A_ptr[i + 1] - 1] * x_val[i];
    } else {
      double y_sum_odd_2 = -0.0;
      i64 A_q_2 = A_ptr[i], A_q_2_end = A_ptr[i + 1];
      while (A_q_2 + 1 < A_q_2_end) {  // j in A[i, j]
        i64 j = A_idx[A_q_2];
        y_sum += A_val[A_q_2] * x_val[j];
        y_val[j] += A_val[A_q_2] * x_i;
        i64 j_3 = A_idx[A_q_2 + 1];
        y_sum_odd_2 += A_val[A_q_2 + 1] * x_val[j_3];
        y_val[j_3] += A_val[A_q_2 + 1] * x_i;
        A_q_2 += 2;
      }
      if (A_q_2 < A_q_2_end) {
        i64 j = A_idx[A_q_2];
        y_sum += A_val[A_q_2] * x_val[j];
        y_val[j] += A_val[A_q_2] * x_i;
      }
      y_sum += y_sum_odd_2;
    }
    y_val[i] += y_sum;
  }
  args[3] = n_i;  // length of y_val
  return 0;
}
