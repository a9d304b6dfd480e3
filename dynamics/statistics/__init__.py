"""Statistics of samples: values with intervals, rules that stop a comparison, times that a budget censors."""
