deepclock zoo
