i64 dot(i64 *restrict args) {
  i64 n_i = args[3];
  double *restrict s_val = (void *)args[0];
  const i32 *restrict x_ptr = (void *)args[4];
  const i32 *restrict x_right = (void *)args[7];
  const double *restrict x_val = (void *)args[10];
  const i32 *restrict y_ptr = (void *)args[14];
  const i32 *restrict y_right = (void *)args[17];
  const double *restrict y_val = (void *)args[20];
  if (grow(s_val, args + 0, 1)) return OUT_OF_MEMORY;
  double s = 0;
  i64 x_q = x_ptr[0], y_q = y_ptr[0], i_start = 0;
  while (i_start < n_i) {  // i in x[i], y[i]
    i64 x_i = x_right[x_q], y_i = y_right[y_q], i_next = min(x_i, y_i);
    s += x_val[x_q] * y_val[y_q] * (double)(i_next - i_start);
    x_q += x_i == i_next;
    y_q += y_i == i_next;
    i_start = i_next;
  }
  s_val[0] = s;
  args[2] = 1;  // length of s_val
  return 0;
}
