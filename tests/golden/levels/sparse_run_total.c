i64 total(i64 *restrict args) {
  double *restrict s_val = (void *)args[0];
  const i32 *restrict x_ptr = (void *)args[4];
  const i32 *restrict x_left = (void *)args[7];
  const i32 *restrict x_right = (void *)args[10];
  const double *restrict x_val = (void *)args[13];
  if (grow(s_val, args + 0, 1)) return OUT_OF_MEMORY;
  double s = 0;
  i64 x_q_first = x_ptr[0], x_q_count = max(x_ptr[1], x_q_first) - x_q_first;
  i64 x_q_part = x_q_count < 16384 ? 0 : x_q_count >> 2;
  double s_part = -0.0, s_part_2 = -0.0, s_part_3 = -0.0;
  #pragma omp simd reduction(+:s, s_part, s_part_2, s_part_3)
  for (i64 x_q = x_q_first; x_q < x_q_first + x_q_part; x_q++) {  // i in x[i]
    i64 i_next = x_right[x_q], i_stop = x_left[x_q];
    s += x_val[x_q] * (double)(i_next - i_stop);
    i64 i_next_2 = x_right[x_q + x_q_part], i_stop_2 = x_left[x_q + x_q_part];
    s_part += x_val[x_q + x_q_part] * (double)(i_next_2 - i_stop_2);
    i64 i_next_3 = x_right[x_q + x_q_part * 2], i_stop_3 = x_left[x_q + x_q_part * 2];
    s_part_2 += x_val[x_q + x_q_part * 2] * (double)(i_next_3 - i_stop_3);
    i64 i_next_4 = x_right[x_q + x_q_part * 3], i_stop_4 = x_left[x_q + x_q_part * 3];
    s_part_3 += x_val[x_q + x_q_part * 3] * (double)(i_next_4 - i_stop_4);
  }
  #pragma omp simd reduction(+:s)
  for (i64 x_q_2 = x_q_first + x_q_part * 4; x_q_2 < x_q_first + x_q_count; x_q_2++) {  // i in x[i]
    i64 i_next_5 = x_right[x_q_2], i_stop_5 = x_left[x_q_2];
    s += x_val[x_q_2] * (double)(i_next_5 - i_stop_5);
  }
  s += s_part;
  s += s_part_2;
  s += s_part_3;
  s_val[0] = s;
  args[2] = 1;  // length of s_val
  return 0;
}
