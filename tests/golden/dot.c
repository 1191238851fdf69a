i64 dot(i64 *restrict args) {
  double *restrict s_val = (void *)args[0];
  const i32 *restrict a_ptr = (void *)args[4];
  const i32 *restrict a_idx = (void *)args[7];
  const double *restrict a_val = (void *)args[10];
  const i32 *restrict b_ptr = (void *)args[14];
  const i32 *restrict b_idx = (void *)args[17];
  const double *restrict b_val = (void *)args[20];
  if (grow(s_val, args + 0, 1)) return OUT_OF_MEMORY;
  double s = 0;
  i64 a_q = a_ptr[0], a_q_end = a_ptr[1], b_q = b_ptr[0], b_q_end = b_ptr[1];
  while (a_q < a_q_end && b_q < b_q_end) {  // i in a[i], b[i]
    i64 a_i = a_idx[a_q], b_i = b_idx[b_q];
    if (a_i == b_i) {
      s += a_val[a_q] * b_val[b_q];
      a_q++;
      b_q++;
    } else {
      a_q += a_i <= b_i;
      b_q += b_i <= a_i;
    }
  }
  s_val[0] = s;
  args[2] = 1;  // length of s_val
  return 0;
}
