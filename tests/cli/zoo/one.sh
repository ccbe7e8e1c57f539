deepclock zoo simplenet
