i64 erode(i64 *restrict args) {
  i64 n_i = args[10];
  i32 *restrict z_ptr = (void *)args[1];
  i32 *restrict z_left = (void *)args[4];
  i32 *restrict z_right = (void *)args[7];
  const i32 *restrict x_ptr = (void *)args[11];
  const i32 *restrict x_left = (void *)args[14];
  const i32 *restrict x_right = (void *)args[17];
  i64 z_n = 0;
  if (grow(z_ptr, args + 1, 2)) return OUT_OF_MEMORY;
  z_ptr[0] = 0;
  if (grow(z_left, args + 4, 1)) return OUT_OF_MEMORY;
  if (grow(z_right, args + 7, 1)) return OUT_OF_MEMORY;
  i64 x_q_2 = x_ptr[0], x_q_2_end = x_ptr[1];
  while (x_q_2 < x_q_2_end) {  // i in x[i]
    i64 x_q_2_last = last_of_stretch_i32_i32(x_left, x_right, x_q_2, x_ptr[1]);
    i64 i_first = (i64)x_left[x_q_2] > 0 ? (i64)x_left[x_q_2] + 1 : 0;
    i64 i_next = x_right[x_q_2_last] < n_i ? (i64)x_right[x_q_2_last] - 1 : n_i;
    if (i_first < i_next) {
      z_left[z_n] = i_first;
      z_right[z_n++] = i_next;
      if (grow(z_left, args + 4, z_n + 1)) return OUT_OF_MEMORY;
      if (grow(z_right, args + 7, z_n + 1)) return OUT_OF_MEMORY;
    }
    x_q_2 = x_q_2_last + 1;
  }
  z_ptr[1] = z_n;
  args[3] = 2;  // length of z_ptr
  args[6] = z_n;  // length of z_left
  args[9] = z_n;  // length of z_right
  return 0;
}
