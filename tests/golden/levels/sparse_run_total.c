i64 total(i64 *restrict args) {
  double *restrict s_val = (void *)args[0];
  const i32 *restrict x_ptr = (void *)args[4];
  const i32 *restrict x_left = (void *)args[7];
  const i32 *restrict x_right = (void *)args[10];
  const double *restrict x_val = (void *)args[13];
  if (grow(s_val, args + 0, 1)) return OUT_OF_MEMORY;
  double s = 0;
  #pragma omp simd reduction(+:s)
  for (i64 x_q = x_ptr[0]; x_q < x_ptr[1]; x_q++) {  // i in x[i]
    i64 i_next = x_right[x_q], i_stop = x_left[x_q];
    s += x_val[x_q] * (double)(i_next - i_stop);
  }
  s_val[0] = s;
  args[2] = 1;  // length of s_val
  return 0;
}
