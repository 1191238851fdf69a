i64 shared(i64 *restrict args) {
  i32 *restrict z_ptr = (void *)args[1];
  i32 *restrict z_left = (void *)args[4];
  i32 *restrict z_right = (void *)args[7];
  const i32 *restrict x_ptr = (void *)args[11];
  const i32 *restrict x_left = (void *)args[14];
  const i32 *restrict x_right = (void *)args[17];
  const i32 *restrict y_ptr = (void *)args[21];
  const i32 *restrict y_left = (void *)args[24];
  const i32 *restrict y_right = (void *)args[27];
  i64 z_n = 0;
  if (grow(z_ptr, args + 1, 2)) return OUT_OF_MEMORY;
  z_ptr[0] = 0;
  i64 z_at = -1;
  if (grow(z_left, args + 4, 1)) return OUT_OF_MEMORY;
  if (grow(z_right, args + 7, 1)) return OUT_OF_MEMORY;
  i64 x_q = x_ptr[0], x_q_end = x_ptr[1], y_q = y_ptr[0], y_q_end = y_ptr[1];
  while (x_q < x_q_end && y_q < y_q_end) {  // i in x[i], y[i]
    i64 x_i = x_right[x_q], y_i = y_right[y_q], i_first = max(x_left[x_q], y_left[y_q]);
    i64 i_next = min(x_i, y_i);
    if (i_first < i_next) {
      i64 far = max(x_i, y_i);
      if ((x_q + 1 >= x_q_end || x_left[x_q + 1] >= far) && (y_q + 1 >= y_q_end || y_left[y_q + 1] >= far)) {
        x_q++;
        y_q++;
      } else {
        x_q += x_i <= i_next;
        y_q += y_i <= i_next;
      }
      if (z_at == i_first) z_right[z_n - 1] = i_next;
      else {
        z_left[z_n] = i_first;
        z_right[z_n++] = i_next;
        if (grow(z_left, args + 4, z_n + 1)) return OUT_OF_MEMORY;
        if (grow(z_right, args + 7, z_n + 1)) return OUT_OF_MEMORY;
      }
      z_at = i_next;
    } else {
      x_q += x_i <= i_first;
      y_q += y_i <= i_first;
    }
  }
  z_ptr[1] = z_n;
  args[3] = 2;  // length of z_ptr
  args[6] = z_n;  // length of z_left
  args[9] = z_n;  // length of z_right
  return 0;
}
