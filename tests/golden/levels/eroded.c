i64 erode(i64 *restrict args) {
  i64 n_i = args[4];
  bool *restrict z_val = (void *)args[1];
  const bool *restrict x_val = (void *)args[5];
  if (grow(z_val, args + 1, n_i)) return OUT_OF_MEMORY;
  i64 i_stop = min(n_i, 1), i_stop_2 = min(i_stop, max(0, n_i - 1));
  if (0 < i_stop_2) z_val[0] = x_val[0] && x_val[1];
  if (i_stop_2 < i_stop) z_val[i_stop_2] = x_val[i_stop_2];
  i64 i_stop_3 = max(i_stop, n_i - 1);
  for (i64 i = i_stop; i < i_stop_3; i++)
    z_val[i] = x_val[i - 1] && x_val[i] && x_val[i + 1];
  if (i_stop_3 < n_i)
    z_val[i_stop_3] = x_val[i_stop_3 - 1] && x_val[i_stop_3];
  args[3] = n_i;  // length of z_val
  return 0;
}
