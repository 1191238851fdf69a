i64 dot(i64 *restrict args) {
  double *restrict s_val = (void *)args[0];
  const i32 *restrict x_ptr = (void *)args[4];
  const i32 *restrict x_right = (void *)args[7];
  const double *restrict x_val = (void *)args[10];
  const i32 *restrict y_ptr = (void *)args[14];
  const i32 *restrict y_idx = (void *)args[17];
  const double *restrict y_val = (void *)args[20];
  if (grow(s_val, args + 0, 1)) return OUT_OF_MEMORY;
  double s = 0;
  i64 x_q = x_ptr[0], y_q = y_ptr[0], y_q_end = y_ptr[1];
  for (i64 y_q_2 = y_q; y_q_2 < y_q_end; y_q_2++) {  // i in y[i]
    i64 y_i = y_idx[y_q_2];
    while (x_right[x_q] <= y_i) x_q++;
    s += x_val[x_q] * y_val[y_q_2];
  }
  s_val[0] = s;
  args[2] = 1;  // length of s_val
  return 0;
}
